#include "CFuzzing.h"

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *bytes, size_t count));

int cfuzzing_run(int argc, char **argv, int (*target)(const uint8_t *bytes, size_t count)) {
    return LLVMFuzzerRunDriver(&argc, &argv, target);
}

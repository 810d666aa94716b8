// libFuzzer, called instead of calling: SwiftPM gives executables a main of their own.
#pragma once
#include <stddef.h>
#include <stdint.h>

int cfuzzing_run(int argc, char **argv, int (*target)(const uint8_t *bytes, size_t count));

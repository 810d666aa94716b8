#include "CMemory.h"
// Defines __GLIBC__ if it is that library.
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

void cmemory_return_large_blocks(void) {
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_ARENA_MAX, 2);
}
#else
void cmemory_return_large_blocks(void) {}
#endif

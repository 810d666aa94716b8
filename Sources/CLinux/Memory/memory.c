#include "CMemory.h"
// Defines __GLIBC__ if it is that library.
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

void cmemory_return_large_blocks(void) {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 2);
}

void cmemory_return_free_pages(void) {
    malloc_trim(0);
}

void cmemory_keep_small_blocks(void) {
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_ARENA_MAX, 1);
}
#else
void cmemory_return_large_blocks(void) {}
void cmemory_return_free_pages(void) {}
void cmemory_keep_small_blocks(void) {}
#endif

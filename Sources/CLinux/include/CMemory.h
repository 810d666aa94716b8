#ifndef CMEMORY_H
#define CMEMORY_H

/// Makes glibc's allocator return large blocks to the system when they are freed, and limits its arenas. No effect on other
/// systems.
///
/// By default the size from which blocks are mapped grows with each one that is freed, up to 32 MiB, and each thread may get an arena of
/// its own: after a flood of originals hundreds of megabytes stay with the process although nothing uses them. See mallopt(3).
void cmemory_return_large_blocks(void);

/// Returns the pages of free blocks to the system. By itself, glibc's allocator returns only those at the end of the heap, so after a
/// crowd of requests half of the heap may be free and stay with the process. Takes less than a millisecond for 100 MiB; see malloc_trim(3).
/// No effect on other systems.
void cmemory_return_free_pages(void);

/// Makes glibc's allocator keep up to 8 MiB that are free, and return what is beyond. For a process that does the same work again and
/// again: pages that are returned would have to be cleared again. No effect on other systems.
void cmemory_keep_small_blocks(void);

#endif

#ifndef CMEMORY_H
#define CMEMORY_H

/// Makes glibc's allocator return large blocks to the system when they are freed, and limits its arenas. No effect on other
/// systems.
///
/// By default the size from which blocks are mapped grows with each one that is freed, up to 32 MiB, and each thread may get an arena of
/// its own: after a flood of originals hundreds of megabytes stay with the process although nothing uses them. See mallopt(3).
void cmemory_return_large_blocks(void);

#endif

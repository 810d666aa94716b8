// What the disk tier needs of Linux and of xxHash that Swift cannot call.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Opens a file for reading if that takes no waiting for a disk (openat2(2), RESOLVE_CACHED).
/// -1 with errno where it would, where there is none, and on systems that cannot tell (EAGAIN, ENOENT, ENOSYS, EINVAL).
int ccachefiles_open_resident(const char *path);

/// Reads what the page cache holds, and waits for no disk (preadv2(2), RWF_NOWAIT).
/// -1 with errno where nothing of it is there, and on systems that cannot tell.
ssize_t ccachefiles_read_resident(int descriptor, void *buffer, size_t count, off_t offset);

/// Opens an empty file that is nowhere but in memory, and is gone when it is closed (memfd_create(2)).
/// -1 with errno where there is no room, and on systems that have no such files (ENOSYS).
int ccachefiles_open_in_memory(void);

typedef struct {
    uint64_t high, low;
} ccachefiles_checksum;

/// XXH3, 128 bits (https://github.com/Cyan4973/xxHash): finds damage, not forgery.
ccachefiles_checksum ccachefiles_check(const void *bytes, size_t count);

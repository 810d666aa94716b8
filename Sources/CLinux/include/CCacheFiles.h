// The functions of Linux and xxHash that the disk tier needs and Swift cannot call.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Opens a file for reading if that does not block on a disk (openat2(2), RESOLVE_CACHED). -1 with errno if it would block, if
/// there is no file, and on systems without support (EAGAIN, ENOENT, ENOSYS, EINVAL).
int ccachefiles_open_resident(const char *path);

/// Reads bytes from the page cache and never blocks on a disk (preadv2(2), RWF_NOWAIT). -1 with errno if the page cache has none,
/// and on systems without support.
ssize_t ccachefiles_read_resident(int descriptor, void *buffer, size_t count, off_t offset);

/// Opens an empty file that exists only in memory until it is closed (memfd_create(2)). -1 with errno if there is no room, and on
/// systems without support (ENOSYS).
int ccachefiles_open_in_memory(void);

typedef struct {
    uint64_t high, low;
} ccachefiles_checksum;

/// XXH3, 128 bits (https://github.com/Cyan4973/xxHash). Detects damage, not forgery.
ccachefiles_checksum ccachefiles_check(const void *bytes, size_t count);

/// The same of `count` bytes of a file from `offset` on, which are read in pieces of 64 KiB. -1 with errno if they cannot be read, and with
/// errno 0 if the file ends before.
int ccachefiles_check_file(int descriptor, off_t offset, size_t count, ccachefiles_checksum *checksum);

#define _GNU_SOURCE
#include "CCacheFiles.h"

#include <errno.h>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

#if defined(__linux__) && defined(SYS_openat2) && defined(RWF_NOWAIT)
// As in <linux/openat2.h>, which some systems lack.
struct how {
    uint64_t flags, mode, resolve;
};
enum { resolve_cached = 0x20 };

int ccachefiles_open_resident(const char *path) {
    struct how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, .resolve = resolve_cached};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

ssize_t ccachefiles_read_resident(int descriptor, void *buffer, size_t count, off_t offset) {
    struct iovec part = {.iov_base = buffer, .iov_len = count};
    return preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
}
#else
int ccachefiles_open_resident(const char *path) {
    (void)path;
    errno = ENOSYS;
    return -1;
}

ssize_t ccachefiles_read_resident(int descriptor, void *buffer, size_t count, off_t offset) {
    (void)descriptor, (void)buffer, (void)count, (void)offset;
    errno = ENOSYS;
    return -1;
}
#endif

int ccachefiles_open_in_memory(void) {
#if defined(MFD_CLOEXEC)
    // Not executable. Linux 6.3 and later expect this flag; earlier versions do not know it (MFD_NOEXEC_SEAL).
    int descriptor = memfd_create("onesheet", MFD_CLOEXEC | 0x0008U);
    return descriptor < 0 && errno == EINVAL ? memfd_create("onesheet", MFD_CLOEXEC) : descriptor;
#else
    errno = ENOSYS;
    return -1;
#endif
}

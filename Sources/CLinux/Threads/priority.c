#define _GNU_SOURCE
#include "CThreads.h"

#include <errno.h>

#if defined(__linux__)
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc has the call and its structure only since 2.41. This is the first version of the structure, of Linux 3.14.
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

enum { reset_on_fork = 1 };

int cthreads_set_own_nice(int nice) {
    struct attributes attributes = {
        .size = sizeof attributes, .policy = SCHED_OTHER, .flags = reset_on_fork, .nice = nice};
    return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
}
#else
int cthreads_set_own_nice(int nice) {
    (void)nice;
    return ENOSYS;
}
#endif

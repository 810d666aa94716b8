#define _GNU_SOURCE
#include "CCage.h"
#include "filter.h"

#include <errno.h>

#ifdef __linux__
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_restrict_self 446
#endif

/// A process that can map no more than this is out of memory.
enum { SMALL_BLOCK = 4 << 20 };

/// Tells a process that ends itself for want of memory from one that crashes: Swift and C++ end in a trap if an allocation fails.
static void trapped(int signal) {
    void *block = mmap(NULL, SMALL_BLOCK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED && errno == ENOMEM) _exit(CCAGE_OUT_OF_MEMORY);
    // The default action is in effect again, and the trap is repeated.
}

static int watch_traps(void) {
    static char stack[16384];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&other, NULL) < 0) return errno;
    struct sigaction action = {.sa_handler = trapped, .sa_flags = SA_RESETHAND | SA_ONSTACK};
    const int traps[] = {SIGABRT, SIGILL, SIGTRAP};
    for (int i = 0; i < 3; i++)
        if (sigaction(traps[i], &action, NULL) < 0) return errno;
    // A handler of the language's runtime would start a program that describes the crash.
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGQUIT, SIGSYS};
    struct sigaction ending = {.sa_handler = SIG_DFL};
    for (int i = 0; i < 5; i++)
        if (sigaction(faults[i], &ending, NULL) < 0) return errno;
    return 0;
}

static int limit(int resource, uint64_t value) {
    struct rlimit now, wanted = {value, value};
    // A lower limit of the server's own stays.
    if (getrlimit(resource, &now) == 0 && now.rlim_max != RLIM_INFINITY && now.rlim_max < value)
        wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    return setrlimit(resource, &wanted) < 0 ? errno : 0;
}

/// Bytes of address space that this process has; 0 if they are unknown.
static uint64_t address_space(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%lu", &pages) != 1) pages = 0;
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/// If the system runs out of memory, it ends this process before the server.
static void offer_to_end(void) {
    FILE *file = fopen("/proc/self/oom_score_adj", "we");
    if (!file) return;
    fputs("1000", file);
    fclose(file);
}

/// Forbids the file system and the network (Linux 5.13, landlock(7)). The filter forbids the system calls too, so a kernel without
/// Landlock is no error.
static int enter_landlock(void) {
    struct {
        uint64_t files, network, scoped;
    } rules = {0};
    long version = syscall(__NR_landlock_create_ruleset, NULL, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);
    if (version < 1) return 0;
    // All rights of this version, none of which is granted to any file.
    rules.files = version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version >= 2 ? 0x3fff : 0x1fff;
    rules.network = version >= 4 ? 3 : 0;
    rules.scoped = version >= 6 ? 3 : 0;
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    long descriptor = syscall(__NR_landlock_create_ruleset, &rules, size, 0);
    if (descriptor < 0) return errno;
    long result = syscall(__NR_landlock_restrict_self, descriptor, 0);
    int error = result < 0 ? errno : 0;
    close((int)descriptor);
    return error;
}

void ccage_forgo_privileges(void) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int ccage_enter(const struct ccage_limits *limits) {
    uint64_t memory = address_space();
    if (!memory) return ENOSYS;
    offer_to_end();
    int error = watch_traps();
    // A server that is killed takes its render processes along. So does the thread that started them (ProcessStarter).
    if (!error && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) error = errno;
    // No core dump, and no other process of this user may trace it or read its memory.
    if (!error && prctl(PR_SET_DUMPABLE, 0) < 0) error = errno;
    if (!error && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) error = errno;
    if (!error) error = enter_landlock();
    if (!error) error = limit(RLIMIT_CORE, 0);
    if (!error) error = limit(RLIMIT_NOFILE, CCAGE_OUTPUT + 1);
    if (!error) error = limit(RLIMIT_FSIZE, limits->output);
    if (!error) error = limit(RLIMIT_CPU, limits->seconds);
    if (!error) error = limit(RLIMIT_AS, memory + limits->memory);
    if (!error) error = ccage_filter();
    return error;
}
#else
void ccage_forgo_privileges(void) {}
int ccage_enter(const struct ccage_limits *limits) { return ENOTSUP; }
#endif

#define _GNU_SOURCE
#include "filter.h"

#ifdef __linux__
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
/// The system calls of a render, frequent ones first. Any other kills the process.
static const unsigned short allowed[] = {
    __NR_recvfrom, __NR_sendto, __NR_recvmsg, __NR_sendmsg, __NR_read, __NR_write, __NR_writev, __NR_pread64, __NR_pwrite64,
    // Memory; mmap and mprotect are below.
    __NR_brk, __NR_munmap, __NR_mremap, __NR_madvise,
    // Locks.
    __NR_futex, __NR_sched_yield, __NR_sched_getaffinity, __NR_set_robust_list, __NR_membarrier,
#ifdef __NR_rseq
    __NR_rseq,
#endif
    // Clocks and what else a C library asks about its own process.
    __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday, __NR_getpid, __NR_gettid,
    __NR_getrandom, __NR_getrusage, __NR_sysinfo, __NR_uname, __NR_fstat, __NR_lseek, __NR_close, __NR_ppoll,
#ifdef __NR_poll
    __NR_poll,
#endif
    // The idle threads of an asynchronous main program. There is no descriptor that it could use these with but its own.
    __NR_epoll_ctl, __NR_epoll_pwait, __NR_timerfd_settime,
#ifdef __NR_epoll_wait
    __NR_epoll_wait,
#endif
    // Traps.
    __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack, __NR_restart_syscall, __NR_exit, __NR_exit_group,
};

enum { ALLOWED = sizeof allowed / sizeof allowed[0], LONGEST = 2 * ALLOWED + 64 };

struct program {
    struct sock_filter lines[LONGEST];
    unsigned short count;
};

static void add(struct program *program, struct sock_filter line) { program->lines[program->count++] = line; }

static void add_return(struct program *program, unsigned action) {
    add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/// Loads the low half of argument `index`. The high half of an `int` is not meaningful.
static void load_argument(struct program *program, unsigned index) {
    unsigned place = offsetof(struct seccomp_data, args) + 8 * index;
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place));
}

/// The lines that follow are for the system call `number`; there are `count` of them, and the last one returns.
static void add_case(struct program *program, unsigned number, unsigned char count) {
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, count));
}

/// Allows `number` if argument `index` has none of `bits`.
static void allow_without(struct program *program, unsigned number, unsigned index, unsigned bits) {
    add_case(program, number, 4);
    load_argument(program, index);
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    add_return(program, SECCOMP_RET_KILL_PROCESS);
    add_return(program, SECCOMP_RET_ALLOW);
}

/// Goes on if argument `index` is `value`.
static void require(struct program *program, unsigned index, unsigned value) {
    load_argument(program, index);
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    add_return(program, SECCOMP_RET_KILL_PROCESS);
}

static void write_program(struct program *program) {
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    add_return(program, SECCOMP_RET_KILL_PROCESS);
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (unsigned i = 0; i < ALLOWED; i++) {
        add_case(program, allowed[i], 1);
        add_return(program, SECCOMP_RET_ALLOW);
    }
    // No code but the program's own.
    allow_without(program, __NR_mmap, 2, PROT_EXEC);
    allow_without(program, __NR_mprotect, 2, PROT_EXEC);
    // abort() signals its own process.
    add_case(program, __NR_tgkill, 7);
    require(program, 0, (unsigned)getpid());
    require(program, 2, SIGABRT);
    add_return(program, SECCOMP_RET_ALLOW);
    add_case(program, __NR_prctl, 4);
    require(program, 0, PR_SET_NAME);
    add_return(program, SECCOMP_RET_ALLOW);
    // There is no room for another thread; a codec goes on without it. A process is forbidden. The C library falls back from clone3,
    // whose arguments are in memory and cannot be examined.
    add_case(program, __NR_clone, 4);
    load_argument(program, 0);
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    add_return(program, SECCOMP_RET_KILL_PROCESS);
    add_return(program, SECCOMP_RET_ERRNO | EAGAIN);
    // fstat() of newer C libraries.
    add_case(program, __NR_newfstatat, 1);
    add_return(program, SECCOMP_RET_ERRNO | EACCES);
#ifdef __NR_clone3
    add_case(program, __NR_clone3, 1);
    add_return(program, SECCOMP_RET_ERRNO | ENOSYS);
#endif
    add_return(program, SECCOMP_RET_KILL_PROCESS);
}

int ccage_filter(void) {
    struct program program = {.count = 0};
    write_program(&program);
    struct sock_fprog filter = {.len = program.count, .filter = program.lines};
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (result > 0) return EAGAIN;
    return result < 0 ? errno : 0;
}
#else
int ccage_filter(void) { return ENOSYS; }
#endif
#endif

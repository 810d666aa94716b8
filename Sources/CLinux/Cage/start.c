#define _GNU_SOURCE
#include "CCage.h"

#include <errno.h>

#ifdef __linux__
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The first descriptor for what a child gets, so that no dup2 below overwrites one that is still needed.
enum { FIRST_FREE = 16 };

static void close_all(const int *descriptors, int count) {
    for (int i = 0; i < count; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
}

/// Moves a descriptor out of the way of the numbers that the child uses.
static int moved(int descriptor) {
    if (descriptor < 0) return -1;
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_FREE);
    int error = errno;
    close(descriptor);
    errno = error;
    return copy;
}

static int spawn(const char *path, char *const arguments[], const int child[3], pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    char *environment[] = {NULL};
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, 0, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, 0, 2);
    for (int i = 0; i < 3 && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, child[i], CCAGE_SOCKET + i);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, CCAGE_OUTPUT + 1);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (!error) error = posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int ccage_start(const char *path, char *const arguments[], struct ccage_process *process) {
    // The server's socket, input and output, then those of the process.
    int all[6] = {-1, -1, -1, -1, -1, -1};
    int *child = all + 3;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) return errno;
    all[0] = sockets[0];
    child[0] = moved(sockets[1]);
    all[1] = memfd_create("onesheet-input", MFD_CLOEXEC);
    all[2] = memfd_create("onesheet-output", MFD_CLOEXEC);
    // A second opening of the same file, which can only read.
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", all[1]);
    child[1] = all[1] < 0 ? -1 : moved(open(name, O_RDONLY | O_CLOEXEC));
    child[2] = all[2] < 0 ? -1 : fcntl(all[2], F_DUPFD_CLOEXEC, FIRST_FREE);
    int error = 0;
    for (int i = 0; i < 6; i++)
        if (all[i] < 0) error = errno ? errno : EMFILE;
    if (!error) error = spawn(path, arguments, child, &process->id);
    if (error) {
        close_all(all, 6);
        return error;
    }
    close_all(child, 3);
    process->socket = all[0];
    process->input = all[1];
    process->output = all[2];
    return 0;
}

int ccage_end(struct ccage_process process, int patience) {
    int status = 0, has_ended = 0;
    // A process closes its socket a moment before it can be waited for.
    for (int waited = 0; !has_ended && waited <= patience; waited++) {
        pid_t ended = waitpid(process.id, &status, WNOHANG);
        // Somebody else has waited for it, so nothing is known about its end.
        if (ended < 0 && errno == ECHILD) status = SIGKILL;
        has_ended = ended != 0;
        if (!has_ended && waited < patience) usleep(1000);
    }
    if (!has_ended) {
        kill(process.id, SIGKILL);
        while (waitpid(process.id, &status, 0) < 0 && errno == EINTR) {
        }
    }
    int descriptors[] = {process.socket, process.input, process.output};
    close_all(descriptors, 3);
    return has_ended ? status : -1;
}

uint64_t ccage_processor_time(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
#else
int ccage_start(const char *path, char *const arguments[], struct ccage_process *process) { return ENOTSUP; }
int ccage_end(struct ccage_process process, int patience) { return -1; }
uint64_t ccage_processor_time(pid_t process) { return 0; }
#endif

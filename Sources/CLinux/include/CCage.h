#ifndef CCAGE_H
#define CCAGE_H

#include <stdint.h>
#include <sys/types.h>

/// The descriptors of a render process, beside 0 to 2, which are `/dev/null`.
#define CCAGE_SOCKET 3
/// Read only.
#define CCAGE_INPUT 4
#define CCAGE_OUTPUT 5

/// The exit statuses of a render process: it has no memory left; the system refuses to lock it in; a codec cannot be created; a message
/// of its server cannot be read.
#define CCAGE_OUT_OF_MEMORY 77
#define CCAGE_NOT_LOCKED_IN 70
#define CCAGE_NO_CODEC 78
#define CCAGE_BAD_MESSAGE 65

/// A render process, as its server sees it.
struct ccage_process {
    pid_t id;
    /// A socket that keeps the boundaries of messages (SOCK_SEQPACKET).
    int socket;
    /// The server writes, the process reads.
    int input;
    /// The process writes, the server reads.
    int output;
};

/// Starts `path` with `arguments`, which end with NULL. The process gets an empty environment, the descriptors above and no others,
/// default signals, and a process group of its own. It ends with the thread that calls this.
/// - Returns: 0, or an error number: ENOTSUP if the system is not Linux.
int ccage_start(const char *path, char *const arguments[], struct ccage_process *process);

/// Kills and reaps a render process, and closes its descriptors.
/// - Parameter patience: the milliseconds in which it may end by itself.
/// - Returns: how it ended, see waitpid(2); -1 if it had to be killed.
int ccage_end(struct ccage_process process, int patience);

/// The processor time of a process in nanoseconds; 0 if it is unknown.
uint64_t ccage_processor_time(pid_t process);

/// Forbids this thread, and all that it starts, to gain privileges: set-user-ID programs have none (PR_SET_NO_NEW_PRIVS).
void ccage_forgo_privileges(void);

/// The bounds of a render process.
struct ccage_limits {
    /// Bytes of memory beyond those that the process has now.
    uint64_t memory;
    /// Bytes of its output.
    uint64_t output;
    /// Seconds of processor time. The server replaces a process long before.
    uint64_t seconds;
};

/// Locks the calling process in: from here on it computes, reads its input, writes its output, and talks over its socket. A forbidden
/// system call kills it. Nothing undoes that.
/// - Returns: 0, or an error number if the system has no filter for system calls.
int ccage_enter(const struct ccage_limits *limits);

#endif

#ifndef CEXEC_H
#define CEXEC_H

#include <stdint.h>
#include <sys/types.h>

/// Limits a running process and those that it starts later (prlimit(2)): bytes of memory that it can write, open files, seconds of
/// processor time (0 is no limit). It leaves no core dump. Lower limits that it cannot raise stay. No effect on systems other than Linux.
/// - Returns: 0, or an error number. A process that has ended already is no error.
int cexec_limit(pid_t process, uint64_t memory, uint64_t files, uint64_t seconds);

#endif

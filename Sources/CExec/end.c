#define _GNU_SOURCE
#include "CExec.h"

#include <signal.h>
#include <sys/wait.h>

int cexec_end(pid_t child, int *status) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != child) return 0;
    *status = info.si_status;
    return info.si_code == CLD_EXITED ? 1 : 2;
}

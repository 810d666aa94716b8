#define _GNU_SOURCE
#include "CExec.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

int cexec_wait(pid_t child, int *status) {
    siginfo_t info = {0};
    int result;
    do {
        result = waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return 0;
    *status = info.si_status;
    return info.si_code == CLD_EXITED ? 1 : 2;
}

#define _GNU_SOURCE
#include "CExec.h"

#ifdef __linux__
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

static int limit(pid_t process, int resource, uint64_t value) {
    struct rlimit present, wanted = {value, value};
    if (prlimit(process, resource, NULL, &present) == 0 && present.rlim_max < value) wanted = present;
    return prlimit(process, resource, &wanted, NULL) < 0 && errno != ESRCH ? errno : 0;
}

int cexec_limit(pid_t process, uint64_t memory, uint64_t files, uint64_t seconds) {
    int error = limit(process, RLIMIT_CORE, 0);
    if (!error) error = limit(process, RLIMIT_DATA, memory);
    if (!error) error = limit(process, RLIMIT_NOFILE, files);
    if (!error && seconds) error = limit(process, RLIMIT_CPU, seconds);
    return error;
}
#else
int cexec_limit(pid_t process, uint64_t memory, uint64_t files, uint64_t seconds) { return 0; }
#endif

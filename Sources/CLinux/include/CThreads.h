#ifndef CTHREADS_H
#define CTHREADS_H

/// Gives the calling thread a nice value. Threads and processes that it starts do not keep one below 0, but get 0.
/// Returns 0, or the error of sched_setattr(2): `EPERM` without the right to the value. `ENOSYS` on other systems than Linux.
///
/// sched_setscheduler(2) could do the same with `SCHED_RESET_ON_FORK`, but `RestrictRealtime=` of systemd refuses that flag.
int cthreads_set_own_nice(int nice);

#endif

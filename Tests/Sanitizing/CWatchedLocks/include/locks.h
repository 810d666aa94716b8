// Nothing to call: being linked is enough (see locks.c).

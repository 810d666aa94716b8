#ifndef CCAGE_FILTER_H
#define CCAGE_FILTER_H

/// Installs the filter of system calls in all threads of this process (seccomp(2)).
/// - Returns: 0 or an error number.
int ccage_filter(void);

#endif

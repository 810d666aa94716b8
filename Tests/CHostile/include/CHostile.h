#ifndef CHOSTILE_H
#define CHOSTILE_H

/// Does what an attacker inside a decoder would try.
/// - Parameter port: of a server on loopback.
/// - Returns: 0 if `deed` is unknown, 1 if it was done or refused and this process still runs.
int chostile_do(const char *deed, int port);

#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Error for an address that the server cannot listen on.
struct ListenError: Error, CustomStringConvertible {
    enum Reason {
        case system(CInt)
        /// The path of the Unix socket exists and is not a socket.
        case notASocket
    }

    let address: ListenAddress
    let reason: Reason

    var description: String {
        switch (address, reason) {
        case (.host(let host, let port), .system(EADDRINUSE)):
            "port \(port) on \(host) is in use; choose another with --listen \(host):PORT"
        case (.host(let host, let port), .system(EACCES)):
            "port \(port) is privileged; choose one from 1024 up with --listen \(host):PORT"
        case (.host(let host, _), .system(EADDRNOTAVAIL)): "\(host) is not an address of this machine"
        case (.socket(let path), .system(EADDRINUSE)): "a server listens on \(path) already; choose another with --listen unix:PATH"
        case (.socket(let path), .system(ENOENT)): "the folder of \(path) does not exist"
        case (.socket(let path), .system(EACCES)): "the folder of \(path) is not writable"
        case (.socket(let path), .notASocket):
            "\(path) exists and is not a socket; remove it, or choose another with --listen unix:PATH"
        case (_, .system(let code)): "cannot listen on \(address): error \(code)"
        case (.host, .notASocket): "cannot listen on \(address)"
        }
    }
}

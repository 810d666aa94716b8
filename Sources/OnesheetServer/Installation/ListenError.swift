#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The address cannot be listened on.
struct ListenError: Error, CustomStringConvertible {
    let address: ListenAddress
    let code: CInt

    var description: String {
        switch code {
        case EADDRINUSE: "port \(address.port) on \(address.host) is in use; choose another with --listen \(address.host):PORT"
        case EACCES: "port \(address.port) needs more rights; choose one from 1024 up with --listen \(address.host):PORT"
        case EADDRNOTAVAIL: "\(address.host) is not an address of this machine"
        default: "cannot listen on \(address): error \(code)"
        }
    }
}

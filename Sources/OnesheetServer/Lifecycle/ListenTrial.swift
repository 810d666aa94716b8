import NIOCore
import OnesheetCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A trial of the address that a server listens on. It accepts no connection.
struct ListenTrial {
    let address: ListenAddress

    /// Binds a socket of its own, as the server does. Whether another server listens on a Unix socket is not asked.
    func run() throws(ListenError) {
        switch address {
        case .socket(let path): try SocketFile(path: path).check()
        case .host(let host, let port): try bindOwn(try resolved(host, port))
        }
    }

    /// The error of a trial for a configuration, which is checked beside the server that uses it.
    func runBesideServer() throws(ConfigurationError) {
        do throws(ListenError) { try run() } catch {
            if case .system(EADDRINUSE) = error.reason { return }
            throw ConfigurationError(path: "listen", message: "\(error)")
        }
    }

    private func resolved(_ host: String, _ port: Int) throws(ListenError) -> SocketAddress {
        do { return try SocketAddress.makeAddressResolvingHost(host, port: port) } catch {
            throw ListenError(address: address, reason: .unknownHost)
        }
    }

    private func bindOwn(_ place: SocketAddress) throws(ListenError) {
        #if canImport(Glibc)
            let kind = CInt(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(place.protocol.rawValue, kind, 0)
        guard descriptor >= 0 else { throw ListenError(address: address, reason: .system(errno)) }
        defer { close(descriptor) }
        // As the server does: connections that ended a moment ago keep no port in use.
        var reuse: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<CInt>.size))
        let failure = place.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 ? 0 : errno }
        guard failure == 0 else { throw ListenError(address: address, reason: .system(failure)) }
    }
}

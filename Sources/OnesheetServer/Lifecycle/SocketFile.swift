import FoundationEssentials
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file of the Unix socket that the server listens on.
struct SocketFile {
    let path: String

    /// Removes the socket file of a server that was killed. Anything else stays.
    func clear() async throws(ListenError) {
        guard let isSocket else { return }
        guard isSocket else { throw ListenError(address: .socket(path: path), reason: .notASocket) }
        guard await !isAlive else { throw ListenError(address: .socket(path: path), reason: .system(EADDRINUSE)) }
        unlink(path)
    }

    /// Sets the permissions of the socket.
    func setPermissions(_ mode: SocketMode) throws(ListenError) {
        guard chmod(path, mode_t(mode.bits)) == 0 else { throw ListenError(address: .socket(path: path), reason: .system(errno)) }
    }

    /// Removes the file at shutdown.
    func remove() {
        if isSocket == true { unlink(path) }
    }

    /// Whether the file is a socket. `nil` if it does not exist.
    private var isSocket: Bool? {
        do {
            return try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeSocket
        } catch {
            return nil
        }
    }

    /// Whether a server listens on the socket.
    private var isAlive: Bool {
        get async {
            do {
                try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(unixDomainSocketPath: path).get()
                    .close()
                return true
            } catch {
                // Connection refused: the server is gone.
                return false
            }
        }
    }
}

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

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

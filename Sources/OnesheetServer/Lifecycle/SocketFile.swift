import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file of a Unix socket that a server listens on.
struct SocketFile {
    let path: String

    /// Makes way for a new socket: what a server left that was killed goes, everything else stays.
    func clear() async throws(ListenError) {
        guard let isSocket else { return }
        guard isSocket else { throw ListenError(address: .socket(path: path), reason: .notASocket) }
        guard await !isAlive else { throw ListenError(address: .socket(path: path), reason: .system(EADDRINUSE)) }
        unlink(path)
    }

    /// Lets those connect that `mode` names.
    func open(to mode: SocketMode) throws(ListenError) {
        guard chmod(path, mode_t(mode.bits)) == 0 else { throw ListenError(address: .socket(path: path), reason: .system(errno)) }
    }

    /// Takes the file away when nobody listens any more.
    func remove() {
        if isSocket == true { unlink(path) }
    }

    /// Whether what is there is a socket; `nil` where there is nothing.
    private var isSocket: Bool? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        return facts.st_mode & S_IFMT == S_IFSOCK
    }

    /// Whether a server listens on it.
    private var isAlive: Bool {
        get async {
            do {
                try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(unixDomainSocketPath: path).get()
                    .close()
                return true
            } catch {
                // Refused: whoever listened is gone.
                return false
            }
        }
    }
}

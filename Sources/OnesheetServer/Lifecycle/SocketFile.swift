import FoundationEssentials
import NIOCore
import NIOPosix
import OnesheetCore

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

    /// Checks that a server can make its file here.
    func check() throws(ListenError) {
        guard isSocket != false else { throw ListenError(address: .socket(path: path), reason: .notASocket) }
        let folder = path.cut(atLast: "/").map { $0.before.isEmpty ? "/" : String($0.before) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw ListenError(address: .socket(path: path), reason: .system(errno)) }
    }

    /// Removes the socket file of a server that was killed. Anything else stays.
    func clear() async throws(ListenError) {
        try check()
        guard isSocket != nil else { return }
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
        /// The host is no address, and no name of one.
        case unknownHost
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
        case (.host(let host, _), .unknownHost): "“\(host)” is neither an address nor a name of one"
        case (.socket(let path), .system(ENOENT)), (.socket(let path), .system(ENOTDIR)): "the folder of \(path) does not exist"
        case (.socket(let path), .system(EACCES)): "the folder of \(path) is not writable"
        case (.socket(let path), .notASocket):
            "\(path) exists and is not a socket; remove it, or choose another with --listen unix:PATH"
        case (_, .system(let code)): "cannot listen on \(address): error \(code)"
        case (.host, .notASocket), (.socket, .unknownHost): "cannot listen on \(address)"
        }
    }
}

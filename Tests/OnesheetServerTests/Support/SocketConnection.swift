import Dispatch
import Glibc

/// A connection to a server behind a file, on which each part is sent when the one before has been read.
///
/// What is sent on a Unix socket counts as the sender's until the other end has read it, and the system tells how much that is.
enum SocketConnection {
    struct Failure: Error { let errno: Int32 }

    /// The file behind which `url`'s server is, if it is behind one.
    static func path(of url: String) -> String? {
        guard url.hasPrefix("http+unix://") else { return nil }
        return String(url.dropFirst("http+unix://".count)).replacing("%2F", with: "/")
    }

    /// Sends `parts`, ends the sending half, and reads until the server closes.
    static func exchange(_ parts: [[UInt8]], with path: String) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            // It waits for the server, so it has a thread that nobody else needs.
            DispatchQueue.global().async { continuation.resume(with: Result { try talk(parts, with: path) }) }
        }
    }

    /// Sends `part`, and waits until the server closes the connection altogether, though this end does not.
    /// - Returns: `false` where it does not within `seconds`.
    static func isClosed(after part: [UInt8], with path: String, within seconds: Int32) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let connection = try open(path)
                        defer { close(connection) }
                        _ = send(connection, part, part.count, Int32(MSG_NOSIGNAL))
                        return events(at: connection, milliseconds: seconds * 1000, besides: 0) & Int16(POLLHUP) != 0
                    })
            }
        }
    }

    private static func talk(_ parts: [[UInt8]], with path: String) throws -> [UInt8] {
        let connection = try open(path)
        defer { close(connection) }
        for part in parts {
            // A server that has said its last word on what it got so far reads no more.
            guard send(connection, part, part.count, Int32(MSG_NOSIGNAL)) == part.count else { break }
            while try unread(connection) > 0, events(at: connection, milliseconds: 0, besides: ended) == 0 { sched_yield() }
        }
        shutdown(connection, Int32(SHUT_WR))
        var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return answer }
            answer += buffer[..<count]
        }
    }

    /// The other end sends no more (poll(2), POLLRDHUP).
    private static let ended: Int16 = 0x2000

    /// What has happened at `connection`, or happens soon: the other end is gone, or something of `wanted`.
    private static func events(at connection: Int32, milliseconds: Int32, besides wanted: Int16) -> Int16 {
        var place = pollfd(fd: connection, events: wanted, revents: 0)
        return poll(&place, 1, milliseconds) > 0 ? place.revents : 0
    }

    /// - Returns: a socket that is connected to the one behind `path`.
    private static func open(_ path: String) throws -> Int32 {
        let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard connection >= 0 else { throw Failure(errno: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8CString)
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            precondition(name.count <= place.count, "the path is too long for a socket")
            for (index, byte) in name.enumerated() { place[index] = UInt8(bitPattern: byte) }
        }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            defer { close(connection) }
            throw Failure(errno: errno)
        }
        return connection
    }

    /// Bytes, with what the system needs to keep them, that the other end has not read yet.
    private static func unread(_ connection: Int32) throws -> Int32 {
        var count: Int32 = 0
        guard ioctl(connection, UInt(TIOCOUTQ), &count) == 0 else { throw Failure(errno: errno) }
        return count
    }
}

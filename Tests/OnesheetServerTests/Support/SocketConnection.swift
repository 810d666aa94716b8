import Dispatch
import Glibc

/// A connection to a server on a Unix socket. It sends each part after the previous one has been read.
///
/// The bytes on a Unix socket count as the sender's until the receiver has read them, and the system reports their number.
enum SocketConnection {
    struct Failure: Error { let errno: Int32 }

    /// The path of the socket of `url`, if it has one.
    static func path(of url: String) -> String? {
        guard url.hasPrefix("http+unix://") else { return nil }
        return String(url.dropFirst("http+unix://".count)).replacing("%2F", with: "/")
    }

    /// Sends `parts`, closes the sending half, and reads until the server closes.
    static func exchange(_ parts: [[UInt8]], with path: String) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            // It blocks, so it has its own thread.
            DispatchQueue.global().async { continuation.resume(with: Result { try talk(parts, with: path) }) }
        }
    }

    /// Sends `part`, and waits until the server closes the connection completely, although this end stays open.
    /// - Returns: `false` if it does not within `seconds`.
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
            // A server stops reading after its final response.
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

    /// The other end has stopped sending (poll(2), POLLRDHUP).
    private static let ended: Int16 = 0x2000

    /// The events at `connection` within a short time: the other end has closed, or one of `wanted`.
    private static func events(at connection: Int32, milliseconds: Int32, besides wanted: Int16) -> Int16 {
        var place = pollfd(fd: connection, events: wanted, revents: 0)
        return poll(&place, 1, milliseconds) > 0 ? place.revents : 0
    }

    /// - Returns: a socket connected to `path`.
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

    /// Bytes that the other end has not read, including the system's overhead.
    private static func unread(_ connection: Int32) throws -> Int32 {
        var count: Int32 = 0
        guard ioctl(connection, UInt(TIOCOUTQ), &count) == 0 else { throw Failure(errno: errno) }
        return count
    }
}

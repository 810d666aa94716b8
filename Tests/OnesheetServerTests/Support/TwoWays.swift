import Foundation
import OnesheetTesting
import XCTest

/// Two servers with the same pictures: one with the fast path, the other without.
struct TwoWays {
    let early: RunningServer
    let ordinary: RunningServer

    var both: [RunningServer] { [early, ordinary] }

    /// The responses of each to `parts`, sent in turn on one connection, without time, durations and request ids.
    func answers(to parts: [[UInt8]]) async throws -> (early: String, ordinary: String) {
        async let early = Self.exchange(parts, with: early.url)
        async let ordinary = Self.exchange(parts, with: ordinary.url)
        return try await (Self.withoutTimes(early), Self.withoutTimes(ordinary))
    }

    func assertSame(_ parts: [[UInt8]], _ context: String = "", file: StaticString = #filePath, line: UInt = #line) async throws {
        let (early, ordinary) = try await answers(to: parts)
        guard early != ordinary else { return }
        let sent = parts.map { String(decoding: $0, as: UTF8.self) }
        XCTFail("\(context) \(sent)\nearly: \(early.prefix(2000))\nordinary: \(ordinary.prefix(2000))", file: file, line: line)
    }

    /// A Unix socket reveals when a part has been read. The next one is sent only then.
    private static func exchange(_ parts: [[UInt8]], with url: String) async throws -> [UInt8] {
        guard let path = SocketConnection.path(of: url) else { return try await RawConnection.exchange(parts, with: url) }
        return try await SocketConnection.exchange(parts, with: path)
    }

    /// Each byte as one character, so that pictures can be compared too.
    private static func withoutTimes(_ bytes: [UInt8]) -> String {
        let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        return text.components(separatedBy: "\r\n").filter { line in
            !["Date: ", "Server-Timing: ", "X-Request-Id: "].contains(where: line.hasPrefix)
        }.joined(separator: "\r\n").replacing(/"request":"[0-9a-f]{16}"/, with: "")
    }
}

extension ServerTestCase {
    /// Two servers with the pictures of the paths `warm` in memory.
    /// - Parameter onSockets: whether they listen on Unix sockets, so that each part of a request is read separately.
    func twoWays(keys: String = "", warm: [String], onSockets: Bool = false) async throws -> TwoWays {
        // The clock stands still; otherwise the age could differ.
        let clock = ManualClock()
        func way(hasFastPath: Bool) async throws -> RunningServer {
            try await server(
                keys: keys, clock: clock.wallClock, hasFastPath: hasFastPath,
                listen: onSockets ? "unix:\(folder()).socket" : "127.0.0.1:0")
        }
        let ways = TwoWays(early: try await way(hasFastPath: true), ordinary: try await way(hasFastPath: false))
        for way in ways.both {
            // Twice: the second response comes from memory.
            for path in warm { for _ in 0..<2 { _ = try await way.send(path) } }
        }
        return ways
    }
}

import Foundation
import NIOCore
import NIOEmbedded
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Two servers with the same pictures: one with the fast path, the other without.
struct TwoWays {
    let early: RunningServer
    let ordinary: RunningServer

    var both: [RunningServer] { [early, ordinary] }

    /// The responses of each to `parts`, sent in turn on one connection, without time, durations and request ids.
    func answers(to parts: [[UInt8]], ends: Bool = true) async throws -> (early: Data, ordinary: Data) {
        async let early = Self.exchange(parts, with: early.url, ends: ends)
        async let ordinary = Self.exchange(parts, with: ordinary.url, ends: ends)
        return try await (Self.withoutTimes(early), Self.withoutTimes(ordinary))
    }

    /// - Parameter ends: whether the client closes its side at once. A server gives up what takes long for a client that may have left, so without
    ///   it, the last request has to close the connection.
    func assertSame(
        _ parts: [[UInt8]], _ context: String = "", ends: Bool = true, file: StaticString = #filePath, line: UInt = #line
    ) async throws {
        let (early, ordinary) = try await answers(to: parts, ends: ends)
        guard early != ordinary else { return }
        let sent = parts.map { String(decoding: $0, as: UTF8.self) }
        // A little before the first difference.
        let start = max(zip(early, ordinary).prefix { $0 == $1 }.count - 300, 0)
        XCTFail(
            "\(context) \(sent)\nearly: …\(Self.text(early.dropFirst(start)))\nordinary: …\(Self.text(ordinary.dropFirst(start)))",
            file: file, line: line)
    }

    /// The beginning of a part of an answer, each byte as one character.
    private static func text(_ answer: Data) -> String {
        String(String.UnicodeScalarView(answer.prefix(2000).map { Unicode.Scalar($0) }))
    }

    /// A Unix socket reveals when a part has been read. The next one is sent only then.
    private static func exchange(_ parts: [[UInt8]], with url: String, ends: Bool) async throws -> [UInt8] {
        guard let path = SocketConnection.path(of: url) else {
            return try await RawConnection.exchange(parts, with: url, ends: ends)
        }
        return try await SocketConnection.exchange(parts, with: path)
    }

    private static let changingFields = ["Date: ", "Server-Timing: ", "X-Request-Id: "].map { Array($0.utf8) }
    private static let endOfLine = Array("\r\n".utf8)
    private static let requestID = Array("\"request\":\"".utf8)

    /// Thousands of answers with pictures are compared. Without optimisation, strings and regular expressions would take most of the time.
    private static func withoutTimes(_ answer: [UInt8]) -> Data {
        var kept = Data(capacity: answer.count)
        answer.withUnsafeBytes { answer in
            var start = 0
            while start < answer.count {
                let end = place(of: endOfLine, in: answer, from: start).map { $0 + endOfLine.count } ?? answer.count
                let line = UnsafeRawBufferPointer(rebasing: answer[start..<end])
                if !changingFields.contains(where: { line.starts(with: $0) }) { append(line, to: &kept) }
                start = end
            }
        }
        return kept
    }

    /// Appends a line without the ids of requests that documents about problems have, sixteen digits and a quotation mark.
    private static func append(_ line: UnsafeRawBufferPointer, to kept: inout Data) {
        var start = 0
        while let place = place(of: requestID, in: line, from: start) {
            let id = line[(place + requestID.count)...].prefix(17)
            let isID = id.count == 17 && id.last == UInt8(ascii: "\"") && id.dropLast().allSatisfy { isxdigit(Int32($0)) != 0 }
            kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[start..<(isID ? place : id.startIndex)]))
            start = isID ? id.endIndex : id.startIndex
        }
        kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[start...]))
    }

    /// Where `pattern` begins next.
    private static func place(of pattern: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var start = start
        while let first = memchr(base + start, Int32(pattern[0]), bytes.count - start) {
            let place = base.distance(to: first)
            guard place + pattern.count <= bytes.count else { return nil }
            if memcmp(first, pattern, pattern.count) == 0 { return place }
            start = place + 1
        }
        return nil
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

    /// The body that a loop of `server` sends at once; `nil` if it leaves the request to the router.
    func early(
        _ target: String, _ field: String = "User-Agent: x", of server: RunningServer, method: String = "GET",
        sendsFiles: Bool = false
    ) throws -> String? {
        let router = server.server.responder.router
        let files = sendsFiles ? OpenFileCache(on: EmbeddedEventLoop(), clock: router.table.images.clock) : nil
        let request = try XCTUnwrap(SimpleRequest(ByteBuffer(bytes: request(target, method: method, [field]))))
        let heads = ResponseHeadCache(router, files: files)
        guard case .answer(let response) = heads.answer(request, since: .now()) else { return nil }
        return String(buffer: response.body ?? ByteBuffer())
    }

    func request(_ target: String, method: String, _ fields: [String]) -> [UInt8] {
        Array(([method + " " + target + " HTTP/1.1", "Host: h"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }
}

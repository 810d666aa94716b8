import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// 304 responses of the fast path, which leave without the channel if they are alone.
final class NotModifiedTests: ServerTestCase {
    private let small = "/t/p/w92/sample/1.jpg"
    private let medium = "/t/p/w500/sample/1.jpg"

    func testThatEveryAddressIsAnsweredTheSame() async throws {
        // Given addresses of every kind, with an origin that pages may have
        let targets = [
            small, medium, "/t/p/w92/sample/2", "/t/p/original/sample/1.jpg", "/i/unsafe/rs:fit:80:0/plain/sample://1@png",
            "/i/unsafe/rs:fit:80:0/exp:4000000000/plain/sample://1@png", "/i/unsafe/rs:fit:80:0/att:1/plain/sample://1@png",
            "/iiif/3/sample:%2F%2F1/full/60,/0/default.jpg",
        ]
        for origins in ["[]", "[\"*\"]", "[\"https://app.example\"]"] {
            let ways = try await twoWays(keys: "cors: { origins: \(origins) }\ndialects: [iiif]", warm: targets)
            for target in targets {
                let answer = try await ways.ordinary.send(target)
                XCTAssertEqual(answer.status, 200, target)
                let tag = try XCTUnwrap(answer.field("ETag"))
                // When a client has the picture, then both ways give the same 304
                for condition in [tag, "W/\(tag)", "\"a\", \(tag)", "*"] {
                    let request = request(target, "If-None-Match: \(condition)")
                    try await ways.assertSame([request], origins)
                    // Alone, among others in one packet, and in packets of their own
                    try await ways.assertSame([request + self.request(small) + request], origins)
                    try await ways.assertSame([request, self.request(small), request, self.request(medium), request], origins)
                    let early = String(decoding: try await ways.answers(to: [request]).early, as: UTF8.self)
                    XCTAssertTrue(early.hasPrefix("HTTP/1.1 304 Not Modified\r\n"), "\(target) \(condition): \(early)")
                    XCTAssertTrue(early.hasSuffix("\r\n\r\n"))
                }
            }
        }
    }

    func testThatPicturesAndNotModifiedTakeTurnsOnOneConnection() async throws {
        let server = try await warm()
        let tag = try await tag(of: medium, server)
        try await OpenConnection.with(server.url) { connection in
            // When a client asks by turns for a picture, for one that it has, and for what only the router answers
            for _ in 0..<20 {
                let picture = try await connection.get(medium)
                let known = try await connection.get(medium, "If-None-Match: \(tag)")
                let changed = try await connection.get(medium, "If-None-Match: \"other\"")
                let document = try await connection.get("/sources")
                let again = try await connection.get(medium, "If-None-Match: \(tag)")
                // Then it gets each response in turn
                XCTAssertEqual([picture, known, changed, document, again].map { status(of: $0.head) }, [200, 304, 200, 200, 304])
                XCTAssertEqual(picture.body, changed.body)
            }
        }
    }

    func testThatNotModifiedDoesNotOvertakeWhatWaits() async throws {
        // Given a client that reads nothing of more pictures than the system holds
        let server = try await warm()
        let tag = try await tag(of: medium, server)
        let size = try await server.send(medium).body.readableBytes
        let count = (32 << 20) / size
        try await OpenConnection.with(server.url, room: 16 << 10) { connection in
            try await connection.send(Array(repeating: request(medium), count: count).flatMap { $0 })
            // When it asks for one that it has, and then reads
            try await connection.send(request(medium, "If-None-Match: \(tag)"))
            var answers = ByteBuffer()
            var heads: [Int] = []
            while heads.count <= count, let bytes = try await connection.next() {
                answers.writeImmutableBuffer(bytes)
                while let end = answers.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) {
                    let status = status(of: String(decoding: answers.readableBytesView[..<end.upperBound], as: UTF8.self))
                    let length = answers.readableBytesView[..<end.upperBound].count + (status == 200 ? size : 0)
                    guard answers.readableBytes >= length else { break }
                    answers.moveReaderIndex(forwardBy: length)
                    answers.discardReadBytes()
                    heads.append(status)
                }
            }
            // Then it gets all pictures, and the 304 behind them
            XCTAssertEqual(heads, Array(repeating: 200, count: count) + [304])
            XCTAssertEqual(answers.readableBytes, 0)
        }
    }

    private func warm() async throws -> RunningServer {
        let server = try await server(hasFastPath: true)
        for path in [small, medium] { for _ in 0..<2 { _ = try await server.send(path) } }
        return server
    }

    private func tag(of path: String, _ server: RunningServer) async throws -> String {
        let answer = try await server.send(path)
        return try XCTUnwrap(answer.field("ETag"))
    }

    private func status(of head: String) -> Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }

    private func request(_ target: String, _ fields: String...) -> [UInt8] {
        Array(("GET \(target) HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
    }
}

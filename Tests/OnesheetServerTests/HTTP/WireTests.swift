import Foundation
import NIOCore
import OnesheetCache
import OnesheetTesting
import XCTest

/// The bytes on the wire, which client libraries would correct. Responses of the fast path and of the router.
final class WireTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"

    func testThatNothingFollowsAHeadWithoutABody() async throws {
        let date = "Sun, 02 Jan 2000 00:00:00 GMT"
        let original = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Last-Modified": date], body: original) }
        let poster = "/i/unsafe/w:60/plain/\(origin.url)/a@jpg"
        for hasFastPath in [true, false] {
            // Given the validators of a picture
            let server = try await server(sources: "sample: { type: sample }\n\(web(origin))", hasFastPath: hasFastPath)
            let whole = try await exchange("GET", poster, with: server)
            let tag = try XCTUnwrap(whole.field("ETag"))
            XCTAssertEqual(whole.field("Last-Modified"), date)
            for (method, path, field, status) in [
                ("HEAD", poster, "", 200), ("HEAD", poster, "If-None-Match: \(tag)", 304),
                ("HEAD", poster, "If-Modified-Since: \(date)", 304), ("GET", poster, "If-None-Match: \(tag)", 304),
                ("GET", poster, "If-Modified-Since: \(date)", 304), ("OPTIONS", poster, "", 204),
                ("HEAD", poster, "If-Match: \"other\"", 412), ("HEAD", "/t/p/w93/sample/1.jpg", "", 400),
                ("HEAD", "/nowhere", "", 404), ("HEAD", "/health", "", 200), ("HEAD", "/sources", "", 200), ("HEAD", "/", "", 200),
            ] {
                // When a bodiless response is requested
                let answer = try await exchange(method, path, with: server, field: field)
                // Then it has no body bytes
                XCTAssertEqual(answer.status, status, "\(method) \(path) \(field)")
                XCTAssertEqual(answer.body, [], "\(method) \(path) \(field)")
            }
            let head = try await exchange("HEAD", poster, with: server)
            XCTAssertEqual(head.field("Content-Length"), "\(whole.body.count)")
            XCTAssertEqual(head.field("Content-Length"), whole.field("Content-Length"))
        }
    }

    func testThatTheEntityTagIsTheBytesDigest() async throws {
        for hasFastPath in [true, false] {
            let server = try await server(hasFastPath: hasFastPath)
            for path in [poster, "/t/p/original/sample/1.jpg"] {
                for _ in 0..<2 {
                    let answer = try await exchange("GET", path, with: server)
                    XCTAssertEqual(answer.field("ETag"), "\"\(Validator.of(ByteBuffer(bytes: answer.body)))\"")
                    XCTAssertEqual(answer.field("Content-Length"), "\(answer.body.count)")
                }
            }
        }
    }

    func testThatWhatIsAllowedIsNamed() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        for (path, allowed) in [
            (poster, "GET, HEAD, OPTIONS"), ("/i/unsafe/w:60/plain/sample://1@jpg", "GET, HEAD, OPTIONS"),
            ("/prefetch", "GET, HEAD, POST, OPTIONS"),
        ] {
            let options = try await exchange("OPTIONS", path, with: server)
            XCTAssertEqual(options.field("Allow"), allowed, path)
            let other = try await exchange("PATCH", path, with: server)
            XCTAssertEqual(other.status, 405, path)
            XCTAssertEqual(other.field("Allow"), allowed, path)
        }
    }

    private struct Answer {
        let status: Int
        let fields: [String]
        let body: [UInt8]

        func field(_ name: String) -> String? {
            fields.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    /// All bytes that the server sends for one request before it closes the connection.
    private func exchange(
        _ method: String, _ path: String, with server: RunningServer, field: String = ""
    ) async throws -> Answer {
        let request = "\(method) \(path) HTTP/1.1\r\nHost: h\r\n" + (field.isEmpty ? "" : field + "\r\n") + "\r\n"
        let bytes = try await RawConnection.exchange([Array(request.utf8)], with: server.url)
        let end = try XCTUnwrap(bytes.firstRange(of: Array("\r\n\r\n".utf8)), "\(method) \(path)")
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        return Answer(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0, fields: Array(lines.dropFirst()),
            body: Array(bytes[end.upperBound...]))
    }
}

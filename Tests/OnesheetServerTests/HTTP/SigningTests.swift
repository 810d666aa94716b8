import OnesheetAddress
import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Signed addresses, requested by clients.
final class SigningTests: ServerTestCase {
    private let clock = ManualClock()
    private let key = "0102030405060708"

    func testThatASignatureCountsAsFarAsItIsConfigured() async throws {
        for size in [8, 10, 32] {
            // Given a server with signatures of this length
            let keys = "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }], size: \(size) }"
            let server = try await server(keys: keys)
            let path = "/w:60/plain/sample://1@jpg"
            let signature = try signature(of: path, size: size)
            let longer = try self.signature(of: path, size: size == 32 ? 31 : size + 1)
            let other = try self.signature(of: "/w:61/plain/sample://1@jpg", size: size)
            XCTAssertEqual(signature.count, (size * 4 + 2) / 3)
            for (claimed, status) in [
                (signature, 200), (longer, 403), (other, 403), (String(signature.dropLast(4)), 403), ("unsafe", 403),
                ((signature.first == "A" ? "B" : "A") + signature.dropFirst(), 403),
            ] {
                // When a signed picture is requested twice, the second time from memory
                for _ in 0..<2 {
                    let answer = try await server.send("/i/\(claimed)\(path)")
                    // Then only that signature is valid
                    XCTAssertEqual(answer.status, status, "\(size) \(claimed)")
                    if status == 403 { assertProblem(answer, 403, "signature") }
                }
            }
        }
    }

    func testThatAnAddressThatHasExpiredIsRefusedThoughItsPictureIsAskedForAllTheTime() async throws {
        for hasFastPath in [true, false] {
            // Given an address that is valid for a minute, and its picture in memory
            let server = try await server(
                keys: "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }] }", clock: clock.wallClock,
                hasFastPath: hasFastPath)
            let end = Int(clock.now.timeIntervalSince1970) + 60
            let path = "/rs:fit:342:0/exp:\(end)/plain/sample://1@png"
            let address = "/i/" + (try signature(of: path, size: 32)) + path
            try await OpenConnection.with(server.url) { connection in
                for _ in 0..<20 {
                    let answer = try await connection.get(address)
                    XCTAssertTrue(answer.head.hasPrefix("HTTP/1.1 200 "), answer.head)
                }
                let last = try await connection.get(address)
                XCTAssertTrue(last.head.contains("detail=memory"), last.head)
                // When the minute is over
                clock.advance(by: .seconds(61))
                // Then it is refused on the same connection, and the picture is still served to others
                let refused = try await connection.get(address)
                XCTAssertTrue(refused.head.hasPrefix("HTTP/1.1 404 "), refused.head)
                XCTAssertTrue(String(buffer: refused.body).contains("Expired"), refused.head)
                let other = "/rs:fit:342:0/plain/sample://1@png"
                let found = try await connection.get("/i/" + (try signature(of: other, size: 32)) + other)
                XCTAssertTrue(found.head.contains("detail=memory"), found.head)
            }
        }
    }

    private func signature(of path: String, size: Int) throws -> String {
        let bytes = try XCTUnwrap([UInt8](hex: key))
        var configuration = SigningConfiguration()
        configuration.keys = [.init(key: bytes, salt: bytes)]
        configuration.size = size
        return try XCTUnwrap(Signature(configuration, needsKey: true).sign(path))
    }
}

import Foundation
import XCTest

@testable import OnesheetServer

/// A malformed request gets an error or no response, and the next request succeeds.
final class MalformedRequestTests: ServerTestCase {
    func testThatEveryMalformedRequestEndsAsTheTableSays() async throws {
        // Given a server that works
        let server = try await server(keys: "admin: { token: secret-for-tests }\ndialects: [thumbor, cloudflare, iiif, next]")
        let good = try await server.send(MalformedRequests.poster)
        XCTAssertGreaterThanOrEqual(MalformedRequests.rows.count, 100)
        XCTAssertEqual(Set(MalformedRequests.rows.map(\.name)).count, MalformedRequests.rows.count)
        for row in MalformedRequests.rows {
            // When a malformed request is sent
            let answer = try await RawConnection.exchange([row.bytes], with: server.url)
            // Then it gets the expected status, without details of this machine
            XCTAssertEqual(Self.status(answer), row.status, row.name)
            let text = String(decoding: answer.prefix(4000), as: UTF8.self)
            XCTAssertFalse(text.contains("root:") || text.contains(server.cache), row.name)
            // And the server continues
            let health = try await server.send("/health")
            XCTAssertEqual(health.status, 200, row.name)
        }
        let again = try await server.send(MalformedRequests.poster)
        XCTAssertEqual(again.body, good.body)
    }

    /// The status of the first response; 0 if there is none.
    private static func status(_ answer: [UInt8]) -> Int {
        let words = String(decoding: answer.prefix(20), as: UTF8.self).split(separator: " ")
        return words.count > 1 && words[0].hasPrefix("HTTP/1.") ? Int(words[1].prefix(3)) ?? -1 : answer.isEmpty ? 0 : -1
    }
}

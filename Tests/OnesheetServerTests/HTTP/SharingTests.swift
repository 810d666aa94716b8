import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Concurrent requests, counted at the origin.
final class SharingTests: ServerTestCase {
    func testThatTwoHundredRequestsForAColdVariantFetchAndRenderOnce() async throws {
        // Given an origin that counts
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        // When two hundred requests come at once
        let answers = try await withThrowingTaskGroup(of: ServerAnswer.self) { group in
            for _ in 0..<200 { group.addTask { try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Then the origin was asked once, all bytes are equal, and one render was stored
        XCTAssertEqual(origin.requests(), 1)
        XCTAssertEqual(Set(answers.map(\.status)), [200])
        XCTAssertEqual(Set(answers.compactMap { $0.field("ETag") }).count, 1)
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_renders_total 1\n"), metrics)
    }

    func testThatTenSizesOfOnePosterFetchItOnce() async throws {
        // Given an origin that counts
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        // When ten sizes are requested at once
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for width in 1...10 {
                group.addTask { try await server.send("/i/unsafe/w:\(width * 10)/plain/\(origin.url)/a@jpg").status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Then the origin was asked once
        XCTAssertEqual(statuses, Array(repeating: 200, count: 10))
        XCTAssertEqual(origin.requests(), 1)
    }
}

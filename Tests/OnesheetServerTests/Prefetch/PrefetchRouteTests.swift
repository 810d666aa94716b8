import XCTest

/// `POST /prefetch` for the administrator's client.
final class PrefetchRouteTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret")]

    func testThatTheSummaryIsAnswered() async throws {
        let server = try await prefetching()
        let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: Self.order())
        XCTAssertEqual(try answer.json()["made"] as? Int, 4, answer.text)
    }

    func testThatProgressComesAsEvents() async throws {
        // Given a client that accepts events
        let server = try await prefetching()
        let fields = administrator + [("Accept", "text/event-stream")]
        // When it prefetches two titles
        let answer = try await server.send("/prefetch", method: "POST", fields: fields, body: Self.order())
        // Then each is reported, and the end
        XCTAssertEqual(answer.field("Content-Type"), "text/event-stream")
        let events = answer.text.split(separator: "\n").filter { $0.hasPrefix("event: ") }
        XCTAssertEqual(events, ["event: progress", "event: progress", "event: done"])
        XCTAssertTrue(answer.text.hasSuffix("\n\n"))
        XCTAssertTrue(answer.text.contains("\"made\":4"))
    }

    func testThatAStreamEndsWithWhatFailed() async throws {
        let server = try await prefetching()
        let fields = administrator + [("Accept", "text/event-stream")]
        let answer = try await server.send("/prefetch", method: "POST", fields: fields, body: "{\"source\": \"nobody\"}")
        XCTAssertEqual(answer.text, "event: failed\ndata: \"unknown source “nobody”; known: sample\"\n\n")
    }

    func testThatADryRunTellsTheCostAndMakesNothing() async throws {
        // Given one of two cached titles
        let server = try await prefetching()
        _ = try await server.send("/prefetch", method: "POST", fields: administrator, body: Self.order("1"))
        // When both are prefetched as a dry run
        let answer = try await server.send(
            "/prefetch", method: "POST", fields: administrator, body: Self.order("1", "2", more: ", \"dryRun\": true"))
        let again = try await server.send(
            "/prefetch", method: "POST", fields: administrator, body: Self.order("1", "2", more: ", \"dryRun\": true"))
        // Then the rest is counted, and not made
        let cost = try answer.json()
        XCTAssertEqual(
            ["total", "there", "missing", "titlesToAsk", "fetches"].map { cost[$0] as? Int }, [4, 2, 2, 1, 1], answer.text)
        XCTAssertGreaterThan(cost["bytes"] as? Int ?? 0, 0)
        XCTAssertEqual(try again.json()["missing"] as? Int, 2)
    }

    func testThatABadOrderIsToldSo() async throws {
        let server = try await prefetching()
        let table = [
            ("{}", 400, "is not JSON such as"), ("{\"source\": \"nobody\"}", 404, "unknown source"),
            ("{\"source\": \"sample\", \"sizes\": [\"w1\"]}", 400, "unknown size “w1”"),
            ("{\"source\": \"sample\", \"from\": \"2026-01-01\"}", 400, "need each other"),
            ("{\"source\": \"sample\", \"from\": \"2026-01-02\", \"to\": \"2026-01-01\"}", 400, "is before"),
            ("{\"source\": \"sample\", \"from\": \"0001-01-01\", \"to\": \"9999-12-31\"}", 400, "more than 10000 days"),
        ]
        for (body, status, words) in table {
            let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: body)
            assertProblem(answer, status, words, body)
        }
    }

    private func prefetching() async throws -> RunningServer { try await server(keys: "admin: { token: secret }") }

    private static func order(_ ids: String..., more: String = "") -> String {
        let ids = ids.isEmpty ? ["1", "2"] : ids
        return
            "{\"source\": \"sample\", \"ids\": [\(ids.map { "\"\($0)\"" }.joined(separator: ","))], \"sizes\": [\"w92\", \"w154\"]\(more)}"
    }
}

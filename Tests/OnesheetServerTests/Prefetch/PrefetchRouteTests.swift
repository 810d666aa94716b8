import Foundation
import OnesheetCore
import OnesheetPipeline
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// `/prefetch` for the administrator's client.
final class PrefetchRouteTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testThatTheSummaryIsAnswered() async throws {
        let server = try await prefetching()
        let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: Self.order())
        XCTAssertEqual(try answer.json()["made"] as? Int, 4, answer.text)
        // Also to clients that refuse events, or name another type
        for accept in ["application/json, text/event-stream;q=0", "text/event-streams"] {
            let answer = try await server.send(
                "/prefetch", method: "POST", fields: administrator + [("Accept", accept)], body: Self.order())
            XCTAssertEqual(try answer.json()["total"] as? Int, 4, answer.text)
        }
    }

    func testThatProgressComesAsEvents() async throws {
        // Given a client that accepts events
        let server = try await prefetching()
        let fields = administrator + [("Accept", "text/event-stream")]
        // When it prefetches two titles
        let answer = try await server.send("/prefetch", method: "POST", fields: fields, body: Self.order())
        // Then each is reported, and the end
        XCTAssertEqual(answer.field("Content-Type"), "text/event-stream")
        XCTAssertEqual(answer.field("X-Accel-Buffering"), "no")
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

    func testThatEventsDoNotGrowWithTheFailures() async throws {
        // Given an order of which everything fails
        let server = try await prefetching()
        let ids = (100..<160).map { "\"\($0)\"" }.joined(separator: ",")
        // When it runs
        let answer = try await server.send(
            "/prefetch", method: "POST", fields: administrator + [("Accept", "text/event-stream")],
            body: "{\"source\": \"sample\", \"ids\": [\(ids)], \"sizes\": [\"w92\"]}")
        // Then each event has the number of all failures and the last ones only; the summary has all
        let documents = try answer.text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map {
            try XCTUnwrap(try JSONSerialization.jsonObject(with: Data($0.dropFirst(6).utf8)) as? [String: Any])
        }
        XCTAssertEqual(documents.last?["failed"] as? Int, 60)
        XCTAssertEqual((documents.last?["failures"] as? [Any])?.count, 60)
        for document in documents.dropLast() { XCTAssertLessThanOrEqual((document["failures"] as? [Any])?.count ?? .max, 10) }
    }

    func testThatTheSchemeOfATokenHasNoCase() async throws {
        let server = try await prefetching()
        for (field, status) in [
            ("bearer secret-for-tests", 200), ("BEARER secret-for-tests", 200), ("Bearer", 401), ("Bearersecret-for-tests", 401),
            ("Basic secret-for-tests", 401),
        ] {
            let answer = try await server.send("/prefetch", fields: [("Authorization", field)])
            XCTAssertEqual(answer.status, status, field)
        }
    }

    func testThatABodyThatIsTooLargeIsRefused() async throws {
        let server = try await prefetching()
        let body = "{\"source\": \"\(String(repeating: "x", count: 1 << 20))\"}"
        assertProblem(try await server.send("/prefetch", method: "POST", fields: administrator, body: body), 413, "1 MiB")
    }

    func testThatJobsAreListedAndStopped() async throws {
        // Given a prefetch of a source that does not answer
        let server = try await slow(folder())
        let fields = administrator + [("Accept", "text/event-stream")]
        async let running = server.send("/prefetch", method: "POST", fields: fields, body: Self.slowOrder)
        // When it is listed
        let jobs = try await firstJobs(server)
        XCTAssertEqual(jobs.map { $0["state"] as? String }, ["running"])
        XCTAssertEqual(jobs.map { $0["source"] as? String }, ["slow"])
        // And stopped, by the administrator alone
        let number = try XCTUnwrap(jobs.first?["number"] as? Int)
        let stranger = try await server.send("/prefetch/\(number)", method: "DELETE")
        XCTAssertEqual(stranger.status, 401)
        let unknown = try await server.send("/prefetch/99", method: "DELETE", fields: administrator)
        XCTAssertEqual(unknown.status, 404)
        let stopped = try await server.send("/prefetch/\(number)", method: "DELETE", fields: administrator)
        XCTAssertEqual(try stopped.json()["state"] as? String, "stopped")
        // Then its stream ends, nothing is left to go on with, and the list says how it ended
        let answer = try await running
        XCTAssertTrue(answer.text.contains("event: done"), answer.text)
        let left = try await PrefetchLedger(server.server.responder.context.resources.state, PrefetchJobs(clock: .system))
            .underWay()
        XCTAssertEqual(left.count, 0)
        let after = try await self.jobs(server)
        XCTAssertEqual(after.map { $0["state"] as? String }, ["stopped"])
        XCTAssertNotNil(after.first?["ended"])
    }

    func testThatAStoppingServerEndsPrefetchesAndResumesThemLater() async throws {
        // Given a prefetch that makes no progress
        let cache = folder()
        let (server, fields) = (try await slow(cache), administrator)
        async let running = server.send("/prefetch", method: "POST", fields: fields, body: Self.slowOrder)
        _ = try await firstJobs(server)
        // When the server stops
        XCTAssertTrue(server.server.drain())
        // Then the client gets a summary without a wait for the rest
        let answer = try await running
        XCTAssertEqual(try answer.json()["made"] as? Int, 0, answer.text)
        try await server.end()
        // And the next start resumes it
        let jobs = try await firstJobs(try await slow(cache))
        XCTAssertEqual(jobs.map { $0["source"] as? String }, ["slow"])
    }

    func testThatAnOrderEndsIfItsClientLeaves() async throws {
        // Given a prefetch that makes no progress
        let server = try await slow(folder())
        let context = server.server.responder.context
        let ledger = PrefetchLedger(context.resources.state, context.resources.prefetchJobs)
        let order = PrefetchOrder(source: "slow", ids: ["1"])
        let variants = try order.variants(context.options)
        let work = Task { try await ledger.run(order, as: variants, with: context.prefetcher) }
        _ = try await firstJobs(server)
        // When the task of its request is cancelled
        work.cancel()
        let summary = try await work.value
        // Then no start resumes it
        let left = try await ledger.underWay()
        XCTAssertEqual(summary.made, 0)
        XCTAssertEqual(left, [])
    }

    private static let slowOrder = "{\"source\": \"slow\", \"ids\": [\"1\"]}"

    /// A server with a source that does not answer.
    private func slow(_ cache: String) async throws -> RunningServer {
        var plugins = PluginList.standard
        plugins.sources.append(HangingCandidates.self)
        return try await server(
            sources: "slow: { type: hanging-candidates, door: none }", keys: "admin: { token: secret-for-tests }", cache: cache,
            plugins: plugins)
    }

    /// The jobs as soon as there are some.
    private func firstJobs(_ server: RunningServer) async throws -> [[String: Any]] {
        var jobs: [[String: Any]] = []
        for _ in 0..<5000 where jobs.isEmpty { jobs = try await self.jobs(server) }
        return jobs
    }

    private func jobs(_ server: RunningServer) async throws -> [[String: Any]] {
        try await server.send("/prefetch", fields: administrator).json()["jobs"] as? [[String: Any]] ?? []
    }

    func testThatAnInvalidPrefetchRequestIsRefusedWithTheReason() async throws {
        let server = try await prefetching()
        let table = [
            ("{}", 400, "is not JSON such as"), ("{\"source\": \"nobody\"}", 404, "unknown source"),
            ("{\"source\": \"sample\", \"sizes\": [\"w1\"]}", 400, "unknown size “w1”"),
            ("{\"source\": \"sample\", \"from\": \"2026-01-01\"}", 400, "use “from” and “to” together"),
            ("{\"source\": \"sample\", \"from\": \"2026-01-02\", \"to\": \"2026-01-01\"}", 400, "is before"),
            ("{\"source\": \"sample\", \"from\": \"0001-01-01\", \"to\": \"9999-12-31\"}", 400, "more than 10000 days"),
        ]
        let unknown = [
            ("{\"source\": \"sample\", \"dryrun\": true}", 400, "unknown key “dryrun”; did you mean “dryRun”?"),
            ("{\"source\": \"sample\", \"size\": [\"w92\"]}", 400, "unknown key “size”; did you mean “sizes”?"),
            ("{\"source\": \"sample\", \"ids\": []}", 400, "“ids” is empty"),
            ("{\"source\": \"sample\", \"sizes\": []}", 400, "“sizes” is empty"),
            ("[]", 400, "is not JSON such as"),
        ]
        for (body, status, words) in table + unknown {
            let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: body)
            assertProblem(answer, status, words, context: body)
        }
    }

    func testThatAnOrderHasNoParametersInItsQuery() async throws {
        let server = try await prefetching()
        let answer = try await server.send("/prefetch?dryRun", method: "POST", fields: administrator, body: Self.order())
        assertProblem(answer, 400, "unknown parameter “dryRun”")
        let jobs = try await self.jobs(server)
        XCTAssertEqual(jobs.count, 0)
    }

    func testThatANumberHasOneSpelling() async throws {
        // Given a prefetch that has ended
        let server = try await prefetching()
        _ = try await server.send("/prefetch", method: "POST", fields: administrator, body: Self.order("1"))
        // When it is stopped by other spellings of its number, then there is none
        for number in ["+1", "01", "%31", "1.0"] {
            let answer = try await server.send("/prefetch/\(number)", method: "DELETE", fields: administrator)
            XCTAssertEqual(answer.status, 404, "\(number) \(answer.text)")
        }
        // And without a number it is the address of all, which cannot be stopped
        let all = try await server.send("/prefetch/", method: "DELETE", fields: administrator)
        XCTAssertEqual(all.status, 405, all.text)
        XCTAssertEqual(all.field("Allow"), "GET, HEAD, POST, OPTIONS")
        // And by its number there is
        let answer = try await server.send("/prefetch/1", method: "DELETE", fields: administrator)
        XCTAssertEqual(answer.status, 200, answer.text)
    }

    func testThatTitlesAreNamedInOneWay() async throws {
        let server = try await prefetching()
        let range = "\"from\": \"2026-01-01\", \"to\": \"2026-01-02\""
        let table = [
            ("\"date\": \"2026-01-01\", \(range)", "“date” and “from” with “to” cannot be combined"),
            ("\(range), \"query\": \"x\"", "“from” with “to” and “query” cannot be combined"),
            ("\"list\": \"popular\", \"ids\": [\"1\"]", "“ids” and “list” cannot be combined"),
            ("\"list\": \"popular\"", "unknown list “popular”; there are none"),
            ("\"ids\": [\"1\"], \"date\": \"2026-01-01\"", "“date” and “ids” cannot be combined"),
            ("\"query\": \"x\", \"ids\": [\"1\"], \(range)", "“from” with “to”, “ids” and “query” cannot be combined"),
            ("\"date\": \"2026-01-01\", \"to\": \"2026-01-02\"", "use “from” and “to” together"),
        ]
        for (titles, words) in table {
            let answer = try await server.send(
                "/prefetch", method: "POST", fields: administrator, body: "{\"source\": \"sample\", \(titles)}")
            assertProblem(answer, 400, words, context: titles)
        }
    }

    private func prefetching() async throws -> RunningServer { try await server(keys: "admin: { token: secret-for-tests }") }

    private static func order(_ ids: String..., more: String = "") -> String {
        let ids = ids.isEmpty ? ["1", "2"] : ids
        return
            "{\"source\": \"sample\", \"ids\": [\(ids.map { "\"\($0)\"" }.joined(separator: ","))], \"sizes\": [\"w92\", \"w154\"]\(more)}"
    }
}

import Foundation
import HTTPTypes
import OnesheetCore
import OnesheetHTTP
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The figures of the last hour, and the last errors.
final class MetricHistoryTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]
    private let start = Date(timeIntervalSince1970: 1_795_000_000)

    func testThatAReadingSaysWhatWasAddedSinceTheOneBefore() throws {
        // Given counters, a mean and a gauge that go on
        let history = MetricHistory()
        for (count, sum, gauge) in [(10.0, 100.0, 1.0), (14, 120, 2), (14, 120, 3), (5, 10, 4)] {
            var reading = MetricHistory.Reading()
            reading.counters["requests"] = count
            reading.means["stage.render"] = (count, sum)
            reading.gauges["queue"] = gauge
            try history.add(reading, [], at: start)
        }
        // Then the history has what came between them; after a restart of the counting that is nothing
        let series = try series(history)
        XCTAssertEqual(series["requests"], [4, 0, 0])
        XCTAssertEqual(series["stage.render"], [5, nil, nil])
        XCTAssertEqual(series["queue"], [2, 3, 4])
    }

    func testThatAnHourIsKept() throws {
        let history = MetricHistory()
        for count in 0...MetricHistory.maxReadings + 10 {
            var reading = MetricHistory.Reading()
            reading.gauges["queue"] = Double(count)
            try history.add(reading, [], at: start)
        }
        let values = try XCTUnwrap(try series(history)["queue"])
        XCTAssertEqual(values.count, MetricHistory.maxReadings)
        XCTAssertEqual(values.last, Double(MetricHistory.maxReadings + 10))
        XCTAssertLessThan(history.document.utf8.count, 10_000)
    }

    func testThatTheServerKeepsOneWithItsQuotas() async throws {
        // Given a server with a source that has a quota, and a reading of the start
        let server = try await server(
            sources: "sample: { type: sample }\nposters: { type: kakao, key: any, quota: { perDay: 100, reserve: 0.2 } }")
        let sampling = MetricSampling(responder: server.server.responder, counters: server.server.counters)
        await sampling.addReading()
        // When pictures are asked for, and another reading is taken
        for _ in 0..<3 { _ = try await server.send("/t/p/w92/sample/1.jpg") }
        await sampling.addReading()
        // Then everyone can read both
        let answer = try await server.send("/figures")
        XCTAssertEqual(answer.field("Cache-Control"), "no-cache")
        let document = try answer.json()
        let series = try XCTUnwrap(document["series"] as? [String: [Any]])
        XCTAssertEqual(series["requests"]?.last as? Int, 3, answer.text)
        XCTAssertEqual(series["hits.memory"]?.last as? Int, 2, answer.text)
        XCTAssertNotNil(series["stage.render"])
        let quotas = try XCTUnwrap(document["quotas"] as? [[String: Any]])
        XCTAssertEqual(quotas.map { $0["source"] as? String }, ["posters"])
        let quota = try XCTUnwrap((quotas[0]["quotas"] as? [[String: Any]])?.first)
        XCTAssertEqual(["perDay", "spent", "reserve"].map { quota[$0] as? Int }, [100, 0, 20])
        XCTAssertEqual(quota["isExhausted"] as? Bool, false)
    }

    func testThatErrorsAreForTheAdministratorAndEqualOnesAreOne() async throws {
        // Given a source whose pictures cannot be reached
        let server = try await server(
            sources: "web: { type: remote, allow: [\"http://127.0.0.1:9/\"], networks: [loopback] }",
            keys: "admin: { token: secret-for-tests }")
        let path = "/i/unsafe/w:60/plain/http%3A%2F%2F127.0.0.1%3A9%2Fone.jpg@jpg"
        for _ in 0..<2 {
            let image = try await server.send(path)
            XCTAssertEqual(image.status, 502)
        }
        _ = try await server.send("/nowhere")
        // When they are asked for
        let anybody = try await server.send("/errors")
        let found = try await server.send("/errors", fields: administrator).json()
        // Then the administrator gets them, without the mistakes of clients
        XCTAssertEqual(anybody.status, 401)
        let errors = try XCTUnwrap(found["errors"] as? [[String: Any]])
        XCTAssertEqual(errors.map { $0["count"] as? Int }, [2])
        XCTAssertEqual(errors.first?["status"] as? Int, 502)
        XCTAssertEqual(errors.first?["path"] as? String, path)
        XCTAssertNotNil(errors.first?["request"])
    }

    func testThatErrorsAreBounded() {
        let errors = RecentErrors()
        for number in 0..<200 {
            let problem = Problem(.badGateway, title: "Failed", detail: "reason \(number)")
            errors.note(problem, at: "/\(number)", request: nil, now: start)
        }
        XCTAssertEqual(errors.all.count, RecentErrors.maxEntries)
        XCTAssertEqual(errors.all.first?.detail, "reason 199")
    }

    private func series(_ history: MetricHistory) throws -> [String: [Double?]] {
        struct Document: Decodable { let series: [String: [Double?]] }
        return try JSONDecoder().decode(Document.self, from: Data(history.document.utf8)).series
    }
}

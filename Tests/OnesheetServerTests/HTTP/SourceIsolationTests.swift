import Foundation
import XCTest

/// The fault of one source affects no other.
final class SourceIsolationTests: ServerTestCase {
    func testThatASourceThatHangsKeepsNobodyElseWaiting() async throws {
        // Given a program that is silent until the test ends it, with more callers than workers
        let folder = folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let door = folder + "/door"
        XCTAssertEqual(mkfifo(door, 0o600), 0)
        let server = try await server(
            sources: """
                sample: { type: sample }
                slow: { type: exec, command: [sh, -c, 'cat < "\(door)"'], timeout: 60s, limits: { calls: 3 } }
                """)
        try await withThrowingTaskGroup(of: ServerAnswer.self) { group in
            for number in 0..<3 {
                group.addTask { try await server.send(number == 0 ? "/sources/slow/titles" : "/t/p/w92/slow/\(number).jpg") }
            }
            // Opens with the program; then all three calls have been counted, or will be before a later one
            let handle = open(door, O_WRONLY)
            var asked = 0
            while try await !server.send("/metrics").text.contains("onesheet_source_calls_under_way{source=\"slow\"} 3"),
                asked < 10_000
            {
                asked += 1
            }
            XCTAssertLessThan(asked, 10_000, "three calls never wait")
            // When it and the other source are called meanwhile
            let refused = try await server.send("/sources/slow/titles/9")
            let titles = try await server.send("/sources/sample/titles")
            let poster = try await server.send("/t/p/w92/sample/1.jpg")
            // Then its callers get errors immediately, and the other source answers
            assertProblem(refused, 503, "the server has no room for this request")
            XCTAssertEqual([titles.status, poster.status], [200, 200])
            unlink(door)
            close(handle)
            // And after the program has ended, the errors name it
            for try await answer in group { assertProblem(answer, 502, "source slow") }
        }
    }

    func testThatSourcesThatCrashFloodOrTalkNonsenseHurtNobodyElse() async throws {
        // Given
        let server = try await server(
            sources: """
                crash: { type: exec, command: [sh, -c, 'exit 3'] }
                flood: { type: exec, command: [sh, -c, "read x; yes '{\\"id\\":1,\\"result\\":{\\"protocol\\":1}}'"] }
                noise: { type: exec, command: [sh, -c, 'read x; cat /dev/zero'], limits: { bytes: 64KiB } }
                sample: { type: sample }
                """)
        for (name, words) in [
            ("crash", "the program ended with status 3"), ("flood", "answers call 1, which is not waiting"),
            ("noise", "a line of more than 65536 bytes"),
        ] {
            // When
            let answer = try await server.send("/sources/\(name)/titles/1")
            let poster = try await server.send("/t/p/w92/sample/1.jpg")

            // Then
            assertProblem(answer, 502, words)
            XCTAssertEqual(poster.status, 200)
        }
        // And the status shows the failing sources with reasons
        let document = try await server.send("/sources").json()
        let sources = try XCTUnwrap(document["sources"] as? [[String: Any]])
        XCTAssertEqual(sources.map { $0["state"] as? String }, ["failing", "failing", "failing", "well"])
        XCTAssertEqual(sources[0]["reason"] as? String, "the service is unavailable: the program ended with status 3")
        XCTAssertNotNil(sources[0]["since"])
        // And the page of another source works normally
        let page = try await server.send("/?plain&source=sample")
        XCTAssertEqual(page.status, 200)
        let metrics = try await server.send("/metrics").text
        for line in [
            "onesheet_source_calls_total{source=\"crash\",outcome=\"unavailable\"} 1",
            "onesheet_source_calls_total{source=\"sample\",outcome=\"answered\"} 2",
            "onesheet_source_healthy{source=\"crash\"} 0", "onesheet_source_healthy{source=\"sample\"} 1",
            "onesheet_source_call_seconds_count{source=\"crash\"} 1",
        ] {
            XCTAssertTrue(metrics.contains(line), "\(line)\n\(metrics)")
        }
    }

    func testThatOnlyTheAdministratorReadsAProgramsWords() async throws {
        // Given a program that ends with words about this machine
        let lines = LogLines()
        let server = try await server(
            sources: "films: { type: exec, command: [sh, -c, 'echo no key in /etc/private >&2; exit 3'] }",
            keys: "admin: { token: secret-for-tests }", logger: lines.logger())
        let administrator = [("Authorization", "Bearer secret-for-tests")]

        // When a visitor asks for a title and for the state of the sources, and the administrator too
        let answer = try await server.send("/sources/films/titles/1")
        let visitors = try await server.send("/sources")
        let own = try await server.send("/sources", fields: administrator)
        let errors = try await server.send("/errors", fields: administrator)

        // Then the visitor learns how it ended, and the administrator and the log also why
        assertProblem(answer, 502, "the program ended with status 3")
        for text in [answer.text, visitors.text] { XCTAssertFalse(text.contains("private"), text) }
        let sources = try XCTUnwrap(try own.json()["sources"] as? [[String: Any]])
        XCTAssertEqual(sources[0]["details"] as? String, "no key in /etc/private")
        let found = try XCTUnwrap(try errors.json()["errors"] as? [[String: Any]])
        XCTAssertEqual(
            found[0]["detail"] as? String,
            "source films: the service is unavailable: the program ended with status 3: no key in /etc/private")
        XCTAssertTrue(
            lines.all.contains { $0.contains("warning") && $0.contains("status 3: no key in /etc/private") }, "\(lines.all)")
    }

    func testStrangersReadNothingThatAProgramPrintsByMistake() async throws {
        // Given programs that print a password: instead of an answer, in an error, in a wrong id, and in a place of a poster
        func program(_ answer: String) -> String {
            "[sh, -c, 'read x; echo \"{\\\"id\\\":1,\\\"result\\\":{\\\"protocol\\\":1}}\"; n=1; while read x; do n=$((n+1)); "
                + "echo \"\(answer.replacing("\"", with: "\\\""))\"; done']"
        }
        let programs = [
            "line": "[sh, -c, 'read x; echo password=hunter2; cat']",
            "error": program(#"{"id":$n,"error":{"code":-32000,"message":"hunter2"}}"#),
            "key": program(#"{"id":$n,"error":{"code":-32002,"message":"hunter2"}}"#),
            "title": program(#"{"id":$n,"result":{"id":"hunter2","name":"x"}}"#),
            "place": program(#"{"id":$n,"result":{"id":"1","name":"x","candidates":[{"url":"hunter2"}]}}"#),
        ]
        for (name, program) in programs {
            let server = try await server(
                sources: "films: { type: exec, command: \(program) }", keys: "admin: { token: secret-for-tests }")
            // When a stranger asks everything that the program has to answer
            for path in [
                "/sources/films/titles/1", "/sources/films/titles/1/posters", "/sources/films/titles",
                "/i/unsafe/plain/films://1@png",
                "/explain?path=/i/unsafe/plain/films://1@png", "/?plain&source=films&title=1", "/?plain&source=films", "/sources",
                "/metrics",
            ] {
                let answer = try await server.send(path)
                XCTAssertFalse(answer.text.contains("hunter2"), "\(name) \(path): \(answer.text)")
            }
            // Then only the administrator reads the password
            let errors = try await server.send("/errors", fields: [("Authorization", "Bearer secret-for-tests")])
            XCTAssertTrue(errors.text.contains("hunter2"), "\(name): \(errors.text)")
        }
    }

    func testThatLimitsThatCannotBeAreRefused() async throws {
        for (limits, message) in [
            ("calls: 0", "sources.a.limits.calls: needs a number from 1"),
            ("tme: 1s", "sources.a.limits: unknown key “tme”; did you mean “time”?"),
        ] {
            do {
                _ = try await server(sources: "a: { type: sample, limits: { \(limits) } }")
                XCTFail("it started")
            } catch {
                XCTAssertTrue("\(error)".contains(message), "\(error)")
            }
        }
    }
}

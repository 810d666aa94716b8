import Foundation
import NIOCore
import OnesheetClient
import OnesheetTesting
import XCTest

/// Answers that are wrong, huge, late or end early.
final class HostileAnswerTests: ClientTestCase {
    private static let small = PosterServer.Limits(timeout: .seconds(20), answerBytes: 64 << 10)

    func testThatUnknownMembersAreIgnored() async throws {
        let server = PosterServer(
            at: "",
            transport: FixedTransport(
                #"{"new":[1,{}],"sources":[{"name":"a","state":"asleep","hasLists":true,"searches":false,"x":null,"periods":["day","era"]}]}"#
            ))
        let source = try await server.sources()[0]
        XCTAssertEqual(source.state.rawValue, "asleep")
        XCTAssertEqual(source.periods, [.day])
        XCTAssertNil(source.type)
        XCTAssertNil(source.lastDay)
        let titles = try await PosterServer(
            at: "", transport: FixedTransport(#"{"titles":[{"id":"1","name":"x","poster":null}]}"#)
        ).titles(of: "a")
        XCTAssertEqual(titles.titles.map(\.title.metadata), [[:]])
        XCTAssertNil(titles.next)
    }

    func testThatDamagedDocumentsAreErrors() async throws {
        let deep = String(repeating: "[", count: 100_000)
        let table = [
            ("", "not JSON"), ("<html>", "not JSON"), ("{", "not JSON"), ("[]", "needs an object"), ("{}", "“sources” is missing"),
            ("{\"sources\":{}}", "sources: needs a list"), ("{\"sources\":[1]}", "sources.0: needs an object"),
            ("{\"sources\":[{\"name\":1}]}", "sources.0.name: needs a text"), (deep, "nested more than"),
            ("{\"sources\":\(deep)", "nested more than"), ("{\"sources\":[]}}", "after the value"),
            ("\u{FEFF}null", "needs an object"),
            ("{\"sources\":[{\"name\":\"\\ud800\"}]}", "not a character"),
            (
                "{\"sources\":[{\"name\":\"a\",\"state\":\"well\",\"hasLists\":true,\"searches\":true,\"since\":\"now\"}]}",
                "since: “now” is not a time"
            ),
        ]
        for (body, words) in table {
            let server = PosterServer(at: "", transport: FixedTransport(body))
            let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
            guard case .unreadable(let reason) = error else { return XCTFail("\(body.prefix(80)): \(error)") }
            XCTAssertTrue(reason.contains(words), "\(body.prefix(80)): \(reason)")
        }
    }

    func testThatHugeCountsAreNoTrap() throws {
        let text = "{\"total\":1,\"made\":\(Int.max),\"skipped\":1,\"failed\":\(Int.max)}"
        let progress = try JSONDecoder().decode(PrefetchProgress.self, from: Data(text.utf8))
        XCTAssertEqual(progress.done, Int.max)
        XCTAssertGreaterThan(progress.fraction, 1)
    }

    func testThatManyMixedValuesAreReadInLinearTime() async throws {
        // Given four megabytes of values of many types in the metadata of a title
        let values = (0..<200_000).map { ["\"a\"", "1", "1.5", "true", "null", "[]", "{}"][$0 % 7] }.joined(separator: ",")
        let body = "{\"id\":\"1\",\"name\":\"x\",\"metadata\":{\"all\":[\(values)]}}"
        let server = PosterServer(at: "", transport: FixedTransport(body))
        // When it is read, then within the client's deadline
        let title = try await server.title(TitleReference(source: "a", id: "1"))
        guard case .array(let all)? = title.title.metadata["all"] else { return XCTFail("no list") }
        XCTAssertEqual(all.count, 200_000)
    }

    func testThatAProblemWithoutADocumentHasItsStatus() async throws {
        for (type, body) in [("text/html", "<h1>Bad gateway</h1>"), ("application/problem+json", "{"), ("application/json", "[1]")]
        {
            let server = PosterServer(at: "", transport: FixedTransport(status: 502, type: type, body))
            let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
            guard case .problem(let problem) = error else { return XCTFail("\(error)") }
            XCTAssertEqual([problem.status, problem.detail == nil ? 0 : 1], [502, 0])
            XCTAssertEqual(problem.description, "status 502")
        }
    }

    func testThatATransportMayFailInItsOwnWay() async throws {
        struct Unplugged: Error {}
        let server = PosterServer(at: "", transport: FixedTransport([], failure: Unplugged()))
        let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
        guard case .unreachable(let reason) = error else { return XCTFail("\(error)") }
        XCTAssertTrue(reason.contains("Unplugged"))
        let nothing = try await failure { () throws(ClientError) in
            _ = try await PosterServer(at: "", transport: FixedTransport([])).sources()
        }
        XCTAssertEqual(nothing, .unreachable("the answer has no head"))
    }

    func testThatAHugeAnswerEndsAtTheLimit() async throws {
        // Given a server that never stops to send
        let origin = try await origin { _, _ in .endless(type: "application/json", bytes: 10_000) }
        let server = PosterServer(at: origin.url, limits: Self.small)
        // When it is asked, then the answer ends at the limit
        let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
        XCTAssertEqual(error, .tooLarge(limit: 64 << 10))
    }

    func testThatASilentServerIsGivenUpAtTheDeadline() async throws {
        for answer in [OriginAnswer.silence, .rawThenSilence(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"))] {
            let origin = try await origin { _, _ in answer }
            let server = PosterServer(at: origin.url, limits: PosterServer.Limits(timeout: .milliseconds(200)))
            let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
            XCTAssertEqual(error, .timedOut(after: .milliseconds(200)))
        }
    }

    func testThatNewsWithoutEndKeepNoAnswerOpen() async throws {
        // Given a server that drips
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
        let origin = try await origin { _, _ in .drip(ByteBuffer(string: head), ByteBuffer(string: " ")) }
        let server = PosterServer(at: origin.url, limits: PosterServer.Limits(timeout: .milliseconds(300)))
        // When it is asked, then the deadline holds for the whole answer
        let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
        XCTAssertEqual(error, .timedOut(after: .milliseconds(300)))
    }

    func testThatAServerThatIsNotThereIsUnreachable() async throws {
        // Given a port at which nobody listens any more, a broken answer, and a text that is no URL
        let gone = try await OriginServer.start { _, _ in .hangUp }
        let broken = try await origin { _, _ in .brokenOff(type: "application/json", body: ByteBuffer(string: "{"), missing: 9) }
        let hangsUp = try await origin { _, _ in .hangUp }
        try await gone.stop()
        for url in [gone.url, broken.url, hangsUp.url, "", "posters.example", "file:///etc/passwd", "http://"] {
            let error = try await failure { () throws(ClientError) in
                _ = try await PosterServer(at: url, limits: Self.small).sources()
            }
            guard case .unreachable = error else { return XCTFail("\(url): \(error)") }
        }
    }

    func testThatARedirectIsNotFollowedWithTheToken() async throws {
        // Given a server that redirects to another one
        let other = try await origin { _, _ in .answer(type: "application/json", body: ByteBuffer(string: "{\"jobs\":[]}")) }
        let origin = try await origin { _, _ in .redirect(to: "\(other.url)/prefetch") }
        // When it is asked with a token
        let server = PosterServer(at: origin.url, token: "secret-for-tests", limits: Self.small)
        let error = try await failure { () throws(ClientError) in _ = try await server.prefetches() }
        // Then the other one gets no request
        guard case .problem(let problem) = error else { return XCTFail("\(error)") }
        XCTAssertEqual(problem.status, 302)
        XCTAssertTrue((problem.detail ?? "").contains(other.url))
        XCTAssertEqual(other.requests(), 0)
    }

    func testThatAServerThatAsksForAPasswordIsAProblem() async throws {
        for challenge in ["Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Bearer", "Negotiate"] {
            // Given a proxy that asks for a password
            let origin = try await origin { _, _ in
                .answer(status: 401, fields: ["WWW-Authenticate": challenge], body: ByteBuffer(string: "{}"))
            }
            // When a client without one asks, then it ends with the status
            let server = PosterServer(at: origin.url, limits: Self.small)
            let error = try await failure { () throws(ClientError) in _ = try await server.sources() }
            guard case .problem(let problem) = error else { return XCTFail("\(challenge): \(error)") }
            XCTAssertEqual(problem.status, 401, challenge)
        }
    }

    func testThatTheTokenIsNotPrinted() throws {
        let server = PosterServer(at: "https://a.example", token: "let-me-in")
        let request = TransportRequest(url: "https://a.example/prefetch", fields: ["Authorization": "Bearer let-me-in"])
        for value in [server, request] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { XCTAssertFalse(text.contains("let-me-in"), text) }
        }
    }

    func testThatACancelledTaskEndsItsRequest() async throws {
        // Given a request to a server that does not answer
        let gate = Gate()
        addTeardownBlock { gate.open() }
        let origin = try await origin { _, _ in .held(gate, .hangUp) }
        let server = PosterServer(at: origin.url)
        let task = Task { try await server.sources() }
        await gate.hasBeenReached()
        // When its task is cancelled, then it ends with that
        task.cancel()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? ClientError, .cancelled) }
    }

    func testThatManyRequestsRunAtOnce() async throws {
        // Given one client
        let origin = try await origin { _, _ in .answer(type: "application/json", body: ByteBuffer(string: "{\"sources\":[]}")) }
        let server = PosterServer(at: origin.url)
        // When it sends fifty requests at once, then each gets its answer
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { _ = try await server.sources() } }
            try await group.waitForAll()
        }
        XCTAssertEqual(origin.requests(), 50)
    }
}

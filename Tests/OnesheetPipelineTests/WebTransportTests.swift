import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// The real client with real origins on loopback, including faulty ones.
final class WebTransportTests: TransportTestCase {
    func testThatAnAnswerArrivesWhole() async throws {
        // Given an origin
        let origin = try await origin { _, _ in .answer(type: "image/png", body: ByteBuffer(string: "bytes")) }
        // When it is requested
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/a?b=c"), under: loopback)
        // Then status, fields and body are returned, and the query was sent
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(answer.headers["content-type"], "image/png")
        XCTAssertEqual(answer.body, ByteBuffer(string: "bytes"))
        XCTAssertEqual(origin.requests(for: "/a?b=c"), 1)
    }

    func testEachAttemptKeepsTheRate() async throws {
        // Given an overloaded service with a rate
        let times = AskedTimes()
        let origin = try await origin { _, _ in
            times.note()
            return .answer(status: 503)
        }
        var policy = loopback
        policy.rate = 50
        // When requests are repeated
        let transport = transport()
        for _ in 0..<4 { _ = try await transport.get(HTTPRequest(url: origin.url + "/"), under: policy) }
        // Then each repetition has waited for its turn
        XCTAssertEqual(times.count, 12)
        XCTAssertNil(times.early(at: 50))
    }

    func testThatAnErrorStatusIsAnAnswer() async throws {
        // Given an origin with a 404
        let origin = try await origin { _, _ in .answer(status: 404) }
        // When it is requested
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
        // Then the status is returned
        XCTAssertEqual(answer.status, 404)
    }

    func testThatARedirectIsFollowed() async throws {
        // Given a redirect with a relative reference
        let origin = try await origin { target, _ in
            target == "/a" ? .redirect(to: "/b") : .answer(body: ByteBuffer(string: target))
        }
        // When it is requested
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/a"), under: loopback)
        // Then the response is that of the target
        XCTAssertEqual(answer.body, ByteBuffer(string: "/b"))
    }

    func testConditionsAreNotSentBehindARedirect() async throws {
        // Given an origin that redirects, and tells the condition that it gets
        let origin = try await origin { target, fields in
            let condition = fields["if-none-match"] ?? fields["if-modified-since"] ?? "none"
            return target == "/a" ? .redirect(to: "/b") : .answer(body: ByteBuffer(string: condition))
        }
        // When a stored answer of it is validated, then the target of the redirect is asked for its own
        for (path, condition) in [("/b", "\"1\""), ("/a", "none")] {
            let headers = ["if-none-match": "\"1\"", "if-modified-since": "Sun, 01 Nov 2026 00:00:00 GMT"]
            let answer = try await transport().get(HTTPRequest(url: origin.url + path, headers: headers), under: loopback)
            XCTAssertEqual(String(buffer: answer.body), condition, path)
        }
    }

    func testTemporaryRedirectWithoutFreshnessIsStale() async throws {
        // Given redirects of each kind, without a word about their freshness and with one
        let origin = try await origin { target, _ in
            guard let status = Int(target.dropFirst().prefix(3)) else { return .answer() }
            let fields = target.hasSuffix("said") ? ["Cache-Control": "max-age=60"] : [:]
            return .answer(status: status, fields: fields.merging(["Location": "/end"]) { $1 })
        }
        for (path, said) in [
            ("/302", "max-age=0"), ("/303", "max-age=0"), ("/307", "max-age=0"), ("/301", nil), ("/308", nil),
            ("/302said", "max-age=60"),
        ] {
            // When they are followed
            let answer = try await transport().get(HTTPRequest(url: origin.url + path), under: loopback)
            // Then only temporary ones without a word are to be asked again
            XCTAssertEqual(answer.redirects.map { $0["cache-control"] }, [said], path)
        }
    }

    func testPostSendsItsBodyAndKeepsItFromARedirect() async throws {
        // Given an origin that answers with what it gets, and redirects elsewhere
        let other = try await origin { _, _ in .answer() }
        let origin = try await origin { target, fields in
            target == "/away"
                ? .redirect(to: other.url + "/b", status: 307)
                : .answer(body: ByteBuffer(string: "\(fields["content-type"] ?? "") \(fields[":body"] ?? "none")"))
        }
        let body = ByteBuffer(string: #"{"a":1}"#)
        func request(_ path: String) -> HTTPRequest {
            HTTPRequest(url: origin.url + path, headers: ["Content-Type": "application/json"], body: body)
        }
        // When it gets a POST
        let transport = transport()
        let answer = try await transport.get(request("/"), under: loopback)
        let redirect = try await transport.get(request("/away"), under: loopback)
        // Then the body arrives, and the redirect is the answer
        XCTAssertEqual(answer.body, ByteBuffer(string: #"application/json {"a":1}"#))
        XCTAssertEqual(redirect.status, 307)
        XCTAssertEqual(other.requests(), 0)
    }

    func testThatARedirectLoopEnds() async throws {
        // Given an origin that redirects to itself
        let origin = try await origin { target, _ in .redirect(to: target) }
        // When it is requested
        let error = await failure(of: origin.url + "/a", loopback)
        // Then five redirects are followed and no more
        XCTAssertEqual(error, .tooManyRedirects(url: origin.url + "/a"))
        XCTAssertEqual(origin.requests(), 6)
    }

    func testThatARedirectOffTheAllowListIsRefused() async throws {
        // Given an origin on the allow-list that redirects to one that is not
        let other = try await origin { _, _ in .answer() }
        let origin = try await origin { _, _ in .redirect(to: other.url + "/secret") }
        let allow = try XCTUnwrap(URLPrefix(origin.url + "/"))
        // When it is requested
        let error = await failure(of: origin.url + "/a", OriginPolicy(allow: [allow], networks: [.loopback]))
        // Then the other is never requested
        XCTAssertEqual(
            error, .forbidden(url: origin.url + "/a", reason: "it redirects to a URL outside the source's allow-list"))
        XCTAssertEqual(other.requests(), 0)
    }

    func testThatAnotherHostDoesNotSeeTheHeadersMeantForTheFirst() async throws {
        // Given a redirect to another origin
        let other = try await origin { _, fields in .answer(body: ByteBuffer(string: fields["authorization"] ?? "none")) }
        let origin = try await origin { _, _ in .redirect(to: other.url + "/") }
        // When a request with a key is sent
        let request = HTTPRequest(url: origin.url + "/", headers: ["Authorization": "secret"])
        let answer = try await transport().get(request, under: loopback)
        // Then the key is sent only to the first
        XCTAssertEqual(answer.body, ByteBuffer(string: "none"))
    }

    func testAnotherHostGetsNoHeaderThatMayBeASecret() async throws {
        // Given a redirect to another origin, and a source with headers
        let other = try await origin { _, fields in
            .answer(body: ByteBuffer(string: fields.keys.sorted().joined(separator: " ")))
        }
        let origin = try await origin { _, _ in .redirect(to: other.url + "/") }
        var policy = loopback
        policy.headers = [
            "X-Api-Key": "a", "X-Auth-Token": "b", "Ocp-Apim-Subscription-Key": "c", "Cookie": "d", "X-Session-Id": "e",
            "X-Amz-Signature": "f", "Referer": "http://a.example/",
        ]
        // When the source fetches
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: policy)
        // Then only the harmless one is sent to the second
        let names = String(buffer: answer.body)
        XCTAssertTrue(names.contains("referer"), names)
        for name in ["key", "token", "cookie", "session", "signature"] { XCTAssertFalse(names.contains(name), names) }
    }

    func testThatAnOriginThatNeverAnswersTimesOut() async throws {
        // Given an origin that is silent
        let origin = try await origin { _, _ in .silence }
        // When it is requested with little patience
        let error = await failure(of: origin.url + "/", OriginPolicy(networks: [.loopback], timeout: .milliseconds(200)))
        // Then the request times out
        XCTAssertEqual(error, .timedOut(url: origin.url + "/"))
    }

    func testThatSilenceIsNotBorneAsLongAsWhatComesSlowly() async throws {
        // Given an origin that stalls in the middle of a body, and one with a slow body
        let beginning = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome")
        let silent = try await origin { _, _ in .rawThenSilence(beginning) }
        let slow = try await origin { _, _ in .drip(beginning, ByteBuffer(string: "a")) }
        let transport = transport(Limits(originTimeout: .seconds(60), originIdleTimeout: .seconds(1)))
        // When both are requested, the stalled one with a much longer total time
        let first = await withTaskGroup(of: HTTPTransportError?.self) { group in
            for (origin, seconds) in [(silent, 60), (slow, 20)] {
                let policy = OriginPolicy(networks: [.loopback], timeout: .seconds(seconds))
                group.addTask { await Self.failure(of: origin.url + "/", policy, transport) }
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        // Then it times out first
        XCTAssertEqual(first, .timedOut(url: silent.url + "/"))
    }

    func testThatAnEndlessBodyIsCutOffAtTheLimit() async throws {
        // Given an endless body
        let origin = try await origin { _, _ in .endless(type: "image/jpeg", bytes: 65_536) }
        // When a limit is set
        let error = await failure(of: origin.url + "/", OriginPolicy(networks: [.loopback], maxBytes: 1 << 20))
        // Then it applies
        XCTAssertEqual(error, .tooLarge(url: origin.url + "/", limit: 1 << 20))
    }

    func testThatABodyThatSaysItIsTooLargeIsNotRead() async throws {
        // Given a response that is longer than allowed
        let origin = try await origin { _, _ in .answer(body: ByteBuffer(repeating: 0, count: 2000)) }
        // When it is requested
        let error = await failure(of: origin.url + "/", OriginPolicy(networks: [.loopback], maxBytes: 1000))
        // Then it is refused
        XCTAssertEqual(error, .tooLarge(url: origin.url + "/", limit: 1000))
    }

    func testThatABodyThatBreaksOffIsAnError() async throws {
        // Given a response with less than the announced length
        let origin = try await origin { _, _ in .brokenOff(type: "image/jpeg", body: ByteBuffer(string: "part"), missing: 10) }
        // When it is requested
        let error = await failure(of: origin.url + "/", loopback)
        // Then no partial response is returned
        guard case .failed = error else { return XCTFail("\(String(describing: error))") }
    }

    func testThatAnOriginThatIsNotThereIsAnError() async throws {
        // Given an address without a listener
        let origin = try await origin { _, _ in .answer() }
        try await origin.stop()
        // When it is requested
        let error = await failure(of: origin.url + "/", loopback)
        // Then the error names the refusal
        guard case .failed = error else { return XCTFail("\(String(describing: error))") }
    }

    func testThatSomethingOtherThanAURLIsRefused() async {
        // Given texts that are not http URLs
        for text in ["", "ftp://example.com/", "http://", "http://user@example.com/", "file:///etc/passwd", "http://a b/"] {
            // When they are requested
            let error = await failure(of: text, loopback)
            // Then they are refused as invalid
            XCTAssertEqual(error, .invalidURL(text))
        }
    }
}

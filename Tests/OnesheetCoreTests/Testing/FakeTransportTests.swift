import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

final class FakeTransportTests: XCTestCase {
    private let transport = FakeTransport()

    private func failure(_ url: String, _ policy: OriginPolicy = OriginPolicy()) async -> HTTPTransportError? {
        do throws(HTTPTransportError) {
            _ = try await transport.get(HTTPRequest(url: url), under: policy)
            return nil
        } catch {
            return error
        }
    }

    func testThatTheLongestPrefixAnswersAndOfEqualsTheNewest() async throws {
        // Given
        transport.on("http://a.example/", "root")
        transport.on("http://a.example/b", "old")
        transport.on("http://a.example/b", "new")

        // When
        let answers = [
            try await transport.get(HTTPRequest(url: "http://a.example/x"), under: OriginPolicy()),
            try await transport.get(HTTPRequest(url: "http://a.example/b/c"), under: OriginPolicy()),
        ]

        // Then
        XCTAssertEqual(answers.map { String(buffer: $0.body) }, ["root", "new"])
        XCTAssertEqual(answers[0].status, 200)
    }

    func testThatAServiceCanKeepState() async throws {
        // Given
        let left = Mutex(1)
        transport.on("http://a.example/") { _ async throws(HTTPTransportError) in
            let isLeft = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            return HTTPAnswer(status: isLeft ? 200 : 429)
        }

        // When
        var statuses: [Int] = []
        for _ in 0..<3 {
            statuses.append(try await transport.get(HTTPRequest(url: "http://a.example/"), under: OriginPolicy()).status)
        }

        // Then
        XCTAssertEqual(statuses, [200, 429, 429])
    }

    func testThatRequestsAreKeptWithThePolicysHeaders() async throws {
        // Given
        transport.on("http://a.example/", "")
        let request = HTTPRequest(url: "http://a.example/x", headers: ["A": "own"])

        // When
        _ = try await transport.get(request, under: OriginPolicy(headers: ["A": "policy", "B": "policy"]))

        // Then
        XCTAssertEqual(transport.requests, [HTTPRequest(url: "http://a.example/x", headers: ["A": "own", "B": "policy"])])
        XCTAssertEqual(transport.count("http://a.example/"), 1)
        XCTAssertEqual(transport.count("http://b.example/"), 0)
        XCTAssertEqual(transport.policies.count, 1)
    }

    func testThatAURLThatNobodyPlaysFails() async {
        // Given
        let url = "http://a.example/"

        // When
        let error = await failure(url)

        // Then
        XCTAssertEqual(error, .failed(url: url, reason: "the test has no answer for this URL"))
    }

    func testThatFaultsComeInTheOrderTheyWereSet() async throws {
        // Given
        let url = "http://a.example/"
        transport.on(url, "")
        transport.failNext(.timedOut(url: url))
        transport.failNext(.failed(url: url, reason: "reset"))

        // When
        let errors = [await failure(url), await failure(url), await failure(url)]

        // Then
        XCTAssertEqual(errors, [.timedOut(url: url), .failed(url: url, reason: "reset"), nil])
    }

    func testThatThePolicyIsKept() async throws {
        // Given
        transport.on("http", "0123456789")
        let allow = [try XCTUnwrap(URLPrefix("http://a.example/ok/"))]
        let cases: [(String, OriginPolicy, HTTPTransportError?)] = [
            ("http://a.example/ok/1", OriginPolicy(allow: allow), nil),
            (
                "http://a.example/no", OriginPolicy(allow: allow),
                .forbidden(url: "http://a.example/no", reason: "it begins with none of the allowed prefixes")
            ),
            (
                "http://10.0.0.1/", OriginPolicy(),
                .forbidden(url: "http://10.0.0.1/", reason: "its address is in none of the allowed networks")
            ),
            ("http://10.0.0.1/", OriginPolicy(networks: [.private]), nil),
            ("http://localhost/", OriginPolicy(networks: [.loopback]), nil),
            (
                "http://localhost/", OriginPolicy(),
                .forbidden(url: "http://localhost/", reason: "its address is in none of the allowed networks")
            ),
            (
                "http://a.example/", OriginPolicy(networks: [.loopback]),
                .forbidden(url: "http://a.example/", reason: "its address is in none of the allowed networks")
            ),
            ("http://a.example/", OriginPolicy(maxBytes: 9), .tooLarge(url: "http://a.example/", limit: 9)),
            ("http://a.example/", OriginPolicy(maxBytes: 10), nil), ("a.example", OriginPolicy(), .invalidURL("a.example")),
        ]

        for (url, policy, expected) in cases {
            // When
            let error = await failure(url, policy)

            // Then
            XCTAssertEqual(error, expected, url)
        }
    }

    func testThatRedirectsAreFollowedUnderThePolicy() async throws {
        // Given
        transport.on("http://a.example/") { _ async throws(HTTPTransportError) in
            HTTPAnswer(status: 302, headers: ["location": "//b.example/x"])
        }
        transport.on("http://b.example/", "there")
        transport.on("http://inside.example/") { _ async throws(HTTPTransportError) in
            HTTPAnswer(status: 301, headers: ["location": "http://169.254.169.254/"])
        }
        transport.on("http://loop.example/") { _ async throws(HTTPTransportError) in
            HTTPAnswer(status: 307, headers: ["location": "/again"])
        }

        // When
        let answer = try await transport.get(HTTPRequest(url: "http://a.example/"), under: OriginPolicy())
        let errors = [await failure("http://inside.example/"), await failure("http://loop.example/")]

        // Then
        XCTAssertEqual(String(buffer: answer.body), "there")
        XCTAssertEqual(
            errors,
            [
                .forbidden(url: "http://169.254.169.254/", reason: "its address is in none of the allowed networks"),
                .tooManyRedirects(url: "http://loop.example/again"),
            ])
    }

    func testThatAHeldAnswerWaitsForTheTest() async throws {
        // Given
        let gate = Gate()
        let transport = self.transport
        transport.hold("http://a.example/", at: gate) { _ async throws(HTTPTransportError) in HTTPAnswer(status: 204) }

        // When
        async let status = transport.get(HTTPRequest(url: "http://a.example/"), under: OriginPolicy()).status
        await gate.hasBeenReached()
        XCTAssertEqual(gate.arrived, 1)
        gate.open()

        // Then
        let answered = try await status
        XCTAssertEqual(answered, 204)
    }

    func testThatAHeldAnswerEndsWithItsTask() async {
        // Given
        let gate = Gate()
        let transport = self.transport
        transport.hold("http://a.example/", at: gate) { _ async throws(HTTPTransportError) in HTTPAnswer(status: 204) }
        let task = Task { try await transport.get(HTTPRequest(url: "http://a.example/"), under: OriginPolicy()) }
        await gate.hasBeenReached()

        // When
        task.cancel()

        // Then
        let result = await task.result
        XCTAssertThrowsError(try result.get()) {
            XCTAssertEqual($0 as? HTTPTransportError, .failed(url: "http://a.example/", reason: "cancelled"))
        }
    }
}

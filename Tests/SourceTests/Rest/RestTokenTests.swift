import NIOCore
import OnesheetCore
import OnesheetTesting
import RestSource
import Synchronization
import XCTest

/// The exchange of a key for a token.
final class RestTokenTests: XCTestCase {
    private static let api = """
        api:
          baseURL: https://a.example
          headers: { Authorization: "Bearer {token}" }
          defaults: { pin: "" }
          token: { post: /login, json: { apikey: { text: "{key}" }, pin: { text: "{pin}" } }, at: /data/token, lasts: 1d }
          title: { get: "/t/{id}", fields: { id: /id, name: /name } }
          candidates: { get: "/c/{id}", items: /c, fields: { url: /url } }
        variables: { key: k3y }
        """

    /// A service that gives out `t1`, `t2` and so on, and accepts the tokens that `isValid` does.
    private func service(_ isValid: @escaping @Sendable (String) -> Bool = { _ in true }) -> FakeTransport {
        let transport = FakeTransport()
        let count = Mutex(0)
        transport.on("https://a.example/login") { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return HTTPAnswer(status: 200, body: ByteBuffer(string: #"{"data":{"token":"t\#(number)"}}"#))
        }
        transport.on("https://a.example/t/1") { request in
            guard let token = request.headers["Authorization"]?.dropFirst("Bearer ".count), isValid(String(token)) else {
                return HTTPAnswer(status: 401, body: ByteBuffer(string: #"{"message":"Unauthorized"}"#))
            }
            return HTTPAnswer(status: 200, body: ByteBuffer(string: #"{"id":"1","name":"One"}"#))
        }
        return transport
    }

    func testTokenIsAskedForOnceAndRenewedAfterItsLife() async throws {
        // Given
        let (transport, clock) = (service(), ManualClock())
        let source = try RecordedTMDB.source(Self.api, .forTesting(transport: transport, clock: clock))

        // When
        for _ in 0..<2 { _ = try await source.title("1") }
        clock.now += 86_401
        _ = try await source.title("1")

        // Then
        let logins = transport.requests.filter { $0.url.hasSuffix("/login") }
        XCTAssertEqual(logins.count, 2)
        XCTAssertEqual(logins.first?.headers, ["Content-Type": "application/json"])
        XCTAssertEqual(logins.first?.body.map { String(buffer: $0) }, #"{"apikey":"k3y"}"#, "an empty variable is left out")
        XCTAssertEqual(logins.map(\.hasSecretAnswer), [true, true])
        let used = transport.requests.filter { $0.url.hasSuffix("/t/1") }.compactMap { $0.headers["Authorization"] }
        XCTAssertEqual(used, ["Bearer t1", "Bearer t1", "Bearer t2"])
    }

    func testRefusedTokenIsRenewedOnce() async throws {
        // Given a service that takes only the second token, and one that takes none
        let (transport, refusing) = (service { $0 == "t2" }, service { _ in false })
        let source = try RecordedTMDB.source(Self.api, .forTesting(transport: transport))
        let refused = try RecordedTMDB.source(Self.api, .forTesting(transport: refusing))

        // When
        let title = try await source.title("1")
        do throws(SourceError) {
            _ = try await refused.title("1")
            XCTFail("it answered")
        } catch {
            // Then
            XCTAssertEqual(error, .unauthorized(message: "HTTP status 401"))
        }
        XCTAssertEqual(title.name, "One")
        XCTAssertEqual(transport.requests.map(\.url.last), ["n", "1", "n", "1"])
        XCTAssertEqual(refusing.count(), 4)
    }

    func testConcurrentCallsShareOneExchange() async throws {
        // Given calls that all come before the token does
        let (transport, gate) = (service(), Gate())
        transport.hold("https://a.example/login", at: gate) { _ in
            HTTPAnswer(status: 200, body: ByteBuffer(string: #"{"data":{"token":"t1"}}"#))
        }
        let source = try RecordedTMDB.source(Self.api, .forTesting(transport: transport))

        // When
        try await withThrowingTaskGroup(of: Title.self) { group in
            for _ in 0..<20 { group.addTask { try await source.title("1") } }
            gate.open()
            for try await title in group { XCTAssertEqual(title.name, "One") }
        }

        // Then
        XCTAssertEqual(transport.count("https://a.example/login"), 1)
        XCTAssertEqual(transport.count("https://a.example/t/1"), 20)
    }

    func testCancelledExchangeIsTakenOver() async throws {
        // Given a call that is cancelled while it asks for the token, and another that waits for it
        let (transport, gate) = (service(), Gate())
        transport.hold("https://a.example/login", at: gate) { _ in
            HTTPAnswer(status: 200, body: ByteBuffer(string: #"{"data":{"token":"t1"}}"#))
        }
        let source = try RecordedTMDB.source(Self.api, .forTesting(transport: transport))
        let first = Task { try await source.title("1") }
        await waitWhile(transport.count() == 0)
        let second = Task { try await source.title("1") }

        // When
        first.cancel()
        gate.open()

        // Then
        let title = try await second.value
        XCTAssertEqual(title.name, "One")
        _ = await first.result
    }

    func testUnusableTokenIsMalformedAndNotShown() async throws {
        // Given
        for answer in [#"{"data":{}}"#, #"{"data":{"token":"s3cret\nX-Evil: 1"}}"#, #"{"data":{"token":""}}"#] {
            let transport = FakeTransport()
            transport.on("https://a.example/login", answer)
            let source = try RecordedTMDB.source(Self.api, .forTesting(transport: transport))

            // When
            do throws(SourceError) {
                _ = try await source.title("1")
                XCTFail("it answered")
            } catch {
                // Then
                XCTAssertEqual(error, .malformedAnswer(reason: "there is no token at “/data/token” in the service's answer"))
            }
        }
    }

    func testItConforms() async throws {
        // Given
        let transport = service()
        transport.on("https://a.example/", status: 404, "{}")
        transport.on("https://a.example/c/1", #"{"c":[{"url":"https://b.example/1"}]}"#)
        let suite = SourceConformance(transport: transport, knownID: "1", unknownID: "2", list: nil) {
            try RecordedTMDB.source(Self.api, .forTesting(transport: $0))
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}

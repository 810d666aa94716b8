import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// The destinations of connections, and their release.
final class OriginConnectionsTests: TransportTestCase {
    func testThatARefusedNameIsNeverConnectedToAndLeavesNothingOpen() async throws {
        // Given a name that resolves to an internal address with an open port
        let visitors = VisitorCount()
        let inside = try await listener { visitors.add($0) }
        let transport = transport(names: ["inside.example": [["127.0.0.1", "::1"]]])
        let before = try descriptors()
        // When it is requested a thousand times
        for number in 0..<1000 {
            let error = await Self.failure(of: "http://inside.example:\(inside)/\(number)", OriginPolicy(), transport)
            // Then it is refused
            guard case .forbidden = error else { return XCTFail("\(String(describing: error))") }
        }
        // And no connection was made, and none is left
        XCTAssertEqual(visitors.count, 0)
        XCTAssertLessThan(try descriptors(), before + 50)
    }

    func testThatFailedConnectionsLeaveNothingOpen() async throws {
        // Given origins that disconnect, send garbage or truncate
        let origins = try await [
            origin { _, _ in .hangUp }, origin { _, _ in .raw(ByteBuffer(string: "SSH-2.0-OpenSSH_9.2\r\n")) },
            origin { _, _ in .brokenOff(type: "image/jpeg", body: ByteBuffer(string: "part"), missing: 10) },
        ]
        let clock = ManualClock()
        let transport = transport(clock: clock.wallClock)
        let before = try descriptors()
        // When more pictures are requested than there may be connections, slowly enough to avoid a pause
        for number in 0..<200 {
            clock.advance(by: .seconds(60))
            for origin in origins {
                let error = await Self.failure(of: "\(origin.url)/\(number)", loopback, transport)
                XCTAssertNotNil(error)
            }
        }
        // Then no connection is left, and none counts against the limit
        XCTAssertLessThan(try descriptors(), before + 50)
        let good = try await origin { _, _ in .answer() }
        _ = try await transport.get(HTTPRequest(url: good.url + "/"), under: loopback)
    }

    func testThatTheNameStaysInTheRequest() async throws {
        // Given an origin that returns the name of the request
        let origin = try await origin { _, fields in .answer(body: ByteBuffer(string: fields["host"] ?? "none")) }
        let transport = transport(names: ["films.example": [["127.0.0.1"]]])
        // When it is requested by its name
        let url = "http://films.example:\(origin.port)/"
        let answer = try await transport.get(HTTPRequest(url: url), under: loopback)
        // Then it gets that name
        XCTAssertEqual(String(buffer: answer.body), "films.example:\(origin.port)")
    }

    func testThatOfSeveralAddressesOnlyAllowedOnesAreConnectedTo() async throws {
        // Given a name with an address outside the networks before one within
        let origin = try await origin { _, _ in .answer() }
        let transport = transport(names: ["films.example": [["192.0.2.1", "10.0.0.1", "127.0.0.1"]]])
        // When it is requested, with far too little time to try the others
        let answer = try await transport.get(HTTPRequest(url: "http://films.example:\(origin.port)/"), under: loopback)
        // Then the one within responds
        XCTAssertEqual(answer.status, 200)
    }

    func testThatAnAddressThatDoesNotTakeAConnectionIsFollowedByTheNext() async throws {
        // Given a name whose first addresses, of both families, have no listener
        let origin = try await origin { _, _ in .answer() }
        let transport = transport(names: ["films.example": [["::1", "127.0.0.9", "127.0.0.1"]]])
        // When it is requested
        let answer = try await transport.get(HTTPRequest(url: "http://films.example:\(origin.port)/"), under: loopback)
        // Then the last one responds
        XCTAssertEqual(answer.status, 200)
    }

    func testThatANameThatChangesItsMindLeadsNowhereElse() async throws {
        // Given a name that is external first and internal a moment later, and an origin without keep-alive
        let origin = try await origin { _, _ in .answer(fields: ["Connection": "close"]) }
        let transport = transport(names: ["films.example": [["127.0.0.1"], ["10.0.0.1"]]])
        let url = "http://films.example:\(origin.port)/"
        let first = try await transport.get(HTTPRequest(url: url), under: loopback)
        XCTAssertEqual(first.status, 200)
        // When it is requested again
        let error = await Self.failure(of: url, loopback, transport)
        // Then it is refused
        XCTAssertEqual(error, .forbidden(url: url, reason: Self.refusal))
        XCTAssertEqual(origin.requests(), 1)
    }

    func testThatWhatAStrangerChoseIsRefusedInOneWay() async throws {
        // Given hosts that match a pattern and are internal, unknown, closed, silent, or not a web server
        let closed = try await origin { _, _ in .answer() }
        try await closed.stop()
        let silent = try await origin { _, _ in .silence }
        let rubbish = try await origin { _, _ in .raw(ByteBuffer(string: "220 mail.example ESMTP\r\n")) }
        let names = ["inside": [["10.1.2.3"]], "metadata": [["169.254.169.254"]], "web": [["127.0.0.1"]]]
        let table = Dictionary(uniqueKeysWithValues: names.map { ("\($0).films.example", $1) })
        let allow = try ["http://*.films.example:*/", "http://10.1.2.4:*/"].map { try XCTUnwrap(URLPrefix($0)) }
        let policy = OriginPolicy(allow: allow, networks: [.loopback])
        var reasons: Set<String> = []
        for host in [
            "inside.films.example:80", "inside.films.example:22", "metadata.films.example", "unknown.films.example",
            "web.films.example:\(closed.port)", "web.films.example:\(silent.port)", "web.films.example:\(rubbish.port)",
            "10.1.2.4:9",
        ] {
            // When they are requested
            let transport = transport(Limits(originIdleTimeout: .milliseconds(200)), names: table)
            let error = await Self.failure(of: "http://\(host)/", policy, transport)
            // Then each gives the same error
            guard case .failed(_, let reason) = error else { return XCTFail("\(host): \(String(describing: error))") }
            reasons.insert(reason)
        }
        XCTAssertEqual(reasons, ["its host does not answer"])
    }

    private static let refusal = "this server refuses its host, which has no address in “networks” of the source"

    func testOperatorIsToldThatAHostIsRefused() async throws {
        // Given a host that matches a pattern and is internal
        let policy = OriginPolicy(allow: [try XCTUnwrap(URLPrefix("http://*.films.example/"))], networks: [.public])
        let transport = transport(names: ["inside.films.example": [["10.1.2.3"]]], isForOperator: true)
        // When a command requests it
        let error = await Self.failure(of: "http://inside.films.example/", policy, transport)
        // Then the error names the key that refuses it
        XCTAssertEqual(error, .forbidden(url: "http://inside.films.example/", reason: Self.refusal))
    }

    func testThatARedirectToTheInsideTellsNothingOfIt() async throws {
        // Given an origin on the allow-list that redirects to internal and missing hosts
        let transport = transport(names: ["films.example": [["127.0.0.1"]], "inside.films.example": [["10.1.2.3"]]])
        let targets = ["http://inside.films.example/admin?key=1", "http://unknown.films.example/"]
        let origin = try await origin { target, _ in .redirect(to: targets[Int(target.dropFirst()) ?? 0]) }
        let own = try XCTUnwrap(URLPrefix("http://films.example:\(origin.port)/"))
        let allow = [own, try XCTUnwrap(URLPrefix("http://*.films.example/"))]
        for number in targets.indices {
            // When it is requested
            let url = "http://films.example:\(origin.port)/\(number)"
            let error = await Self.failure(of: url, OriginPolicy(allow: allow, networks: [.loopback]), transport)
            // Then the error names only the requested host
            XCTAssertEqual(error, .failed(url: url, reason: "its host does not answer"))
        }
    }

    func testThatNoRequestIsLostToAnOriginThatClosesWhatItKept() async throws {
        for farewell in [ClosingHandler.Farewell.withTheSecondRequest, .afterTheAnswer] {
            // Given an origin that announces keep-alive and closes the connection
            let visitors = VisitorCount()
            let port = try await listener { channel in
                visitors.add(channel)
                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                try channel.pipeline.syncOperations.addHandler(ClosingHandler(farewell))
            }
            let transport = transport(attempts: 1)
            for number in 0..<300 {
                // When it is requested hundreds of times
                let url = "http://127.0.0.1:\(port)/\(number)"
                let answer = try await transport.get(HTTPRequest(url: url), under: loopback)
                // Then it responds each time
                XCTAssertEqual(answer.status, 200)
            }
            XCTAssertLessThanOrEqual(visitors.count, 300)
        }
    }

    func testThatAConnectionIsUsedAgain() async throws {
        // Given an origin with keep-alive
        let visitors = VisitorCount()
        let port = try await listener { channel in
            visitors.add(channel)
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(ClosingHandler(.never))
        }
        let transport = transport()
        // When a hundred pictures are requested
        for number in 0..<100 {
            _ = try await transport.get(HTTPRequest(url: "http://127.0.0.1:\(port)/\(number)"), under: loopback)
        }
        // Then one connection serves them
        XCTAssertEqual(visitors.count, 1)
        XCTAssertEqual(visitors.open, 1)
    }

    func testThatARequestWithAnOddPathArrivesAsARequest() async throws {
        // Given an origin that returns the request
        let origin = try await origin { target, _ in .answer(body: ByteBuffer(string: target)) }
        let transport = transport()
        for (path, target) in [
            ("/영화.jpg?a=ü", "/%EC%98%81%ED%99%94.jpg?a=%C3%BC"), ("/a%20b%2Fc%zz", "/a%20b%2Fc%25zz"),
            ("/a\"<>^`{|}", "/a%22%3C%3E%5E%60%7B%7C%7D"),
            ("/a?b=c&d=[e]", "/a?b=c&d=%5Be%5D"), ("?q", "/?q"),
        ] {
            // When a path has invalid bytes
            let answer = try await transport.get(HTTPRequest(url: origin.url + path), under: loopback)
            // Then they are escaped, and existing escapes are kept
            XCTAssertEqual(String(buffer: answer.body), target)
        }
    }

    func testThatFieldsOfAConfigurationDoNotBreakARequestApart() async throws {
        // Given an origin
        let origin = try await origin { target, fields in
            .answer(body: ByteBuffer(string: "\(target) \(fields["content-length"] ?? "-") \(fields["transfer-encoding"] ?? "-")"))
        }
        let transport = transport()
        // When fields would change the framing of the request, or end it
        let framing = HTTPRequest(url: origin.url + "/a", headers: ["Content-Length": "5", "Transfer-Encoding": "chunked"])
        let answer = try await transport.get(framing, under: loopback)
        let split = HTTPRequest(url: origin.url + "/b", headers: ["X-Key": "a\r\n\r\nGET /secret HTTP/1.1"])
        do {
            _ = try await transport.get(split, under: loopback)
            XCTFail("it was sent")
        } catch {
            // Then they are omitted, or the request is not sent
            XCTAssertEqual(String(buffer: answer.body), "/a - -")
            XCTAssertEqual(origin.requests(), 1)
        }
    }

    func testThatAfterTheEndNothingIsConnected() async throws {
        // Given a transport with a connection
        let visitors = VisitorCount()
        let port = try await listener { channel in
            visitors.add(channel)
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(ClosingHandler(.never))
        }
        let transport = transport()
        let url = "http://127.0.0.1:\(port)/"
        _ = try await transport.get(HTTPRequest(url: url), under: loopback)
        // When it ends
        try await transport.shutdown()
        // Then the connection does too, and further requests fail
        await waitWhile(visitors.open > 0)
        let error = await Self.failure(of: url, loopback, transport)
        XCTAssertNotNil(error)
        XCTAssertEqual(visitors.count, 1)
    }

    /// A port on loopback whose connections are passed to `prepare`.
    private func listener(_ prepare: @escaping @Sendable (any Channel) throws -> Void) async throws -> Int {
        let channel = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { try prepare(channel) } }
            .bind(host: "127.0.0.1", port: 0).get()
        addTeardownBlock { try await channel.close() }
        return try XCTUnwrap(channel.localAddress?.port)
    }

    private func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
}

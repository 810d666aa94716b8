import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// HTTPS over real connections.
final class TLSTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"
    private let lines = LogLines()

    func testThatBothVersionsOfHTTPGetWhatPlainHTTPGets() async throws {
        // Given a server with a certificate, and one without
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let plain = try await self.server().send(poster)
        for (version, expected) in [
            (HTTPClient.Configuration.HTTPVersion.http1Only, HTTPVersion.http1_1), (.automatic, HTTPVersion.http2),
        ] {
            // When a client that trusts it sends two requests
            let client = try client(certificate, version)
            for _ in 0..<2 {
                let (response, body) = try await get(server.url + poster, client)
                // Then it gets the same picture in the selected HTTP version
                XCTAssertEqual(response.version, expected)
                XCTAssertEqual(response.status.code, 200)
                XCTAssertEqual(body, plain.body)
                XCTAssertEqual(response.headers.first(name: "ETag"), plain.field("ETag"))
            }
            let (missing, _) = try await get(server.url + "/nowhere", client)
            XCTAssertEqual(missing.status.code, 404)
        }
    }

    func testThatCachedPicturesAreAnsweredByTheFastPathInBothVersions() async throws {
        let certificate = try SelfSigned(in: folder())
        for version in [HTTPClient.Configuration.HTTPVersion.http1Only, .automatic] {
            // Given a server after a request for a picture, with and without a fast path, while the clock stands still
            let clock = ManualClock().wallClock
            let slow = try await server(keys: certificate.yaml, clock: clock, hasFastPath: false)
            let fast = try await server(keys: certificate.yaml, clock: clock)
            let client = try client(certificate, version)
            for way in [slow, fast] { _ = try await get(way.url + poster, client) }
            // When it is requested again in many ways, then both give the same response
            let tag = try await get(fast.url + poster, client).0.headers.first(name: "ETag") ?? ""
            for (path, fields) in [
                (poster, []), (poster, [("If-None-Match", tag)]), (poster, [("Range", "bytes=1-4")]),
                (poster, [("X-Unknown", "1")]),
                (poster, [("Accept", "*/*")]), ("/health", []), ("/t/p/w1/sample/1.jpg", [("X-Request-Id", "a")]),
            ] {
                for method in [HTTPMethod.GET, .HEAD] {
                    let expected = try await ask(slow.url + path, method, fields: fields, by: client)
                    let answer = try await ask(fast.url + path, method, fields: fields, by: client)
                    XCTAssertEqual(answer, expected, "\(version) \(method) \(path) \(fields)")
                }
            }
            // And the router handled only the first request, and those with other fields or mistakes
            let handled = "onesheet_fast_path_requests_total{route="
            let (_, metrics) = try await get(fast.url + "/metrics", client)
            let lines = String(buffer: metrics).split(separator: "\n")
            XCTAssertTrue(lines.contains("onesheet_request_seconds_count{route=\"/t/p/\"} 14"), "\(lines)")
            XCTAssertTrue(lines.contains("\(handled)\"/t/p/\"} 7"), "\(lines)")
            XCTAssertTrue(lines.contains("\(handled)\"/health\"} 2"), "\(lines)")
        }
    }

    func testThatAResponseWithoutContentHasNoLength() async throws {
        let certificate = try SelfSigned(in: folder())
        for hasFastPath in [true, false] {
            let server = try await server(keys: certificate.yaml, hasFastPath: hasFastPath)
            for (version, expected) in [
                (HTTPClient.Configuration.HTTPVersion.http1Only, HTTPVersion.http1_1), (.automatic, HTTPVersion.http2),
            ] {
                // Given a client that has a picture, pages, JSON and metrics
                let client = try client(certificate, version)
                for path in [poster, poster, "/", "/?plain", "/sources", "/metrics"] {
                    for (method, status) in [(HTTPMethod.GET, 304), (.HEAD, 304), (.OPTIONS, 204)] {
                        _ = try await get(server.url + path, client)
                        // When it asks whether they have changed, and for the methods
                        var request = HTTPClientRequest(url: server.url + path)
                        request.method = method
                        request.headers.add(name: "If-None-Match", value: "*")
                        let response = try await client.execute(request, timeout: .seconds(60))
                        // Then the head gives no length (RFC 9110 §8.6)
                        let context = "\(expected) \(method) \(path), fast path: \(hasFastPath)"
                        XCTAssertEqual(response.version, expected, context)
                        XCTAssertEqual(Int(response.status.code), status, context)
                        XCTAssertEqual(response.headers["Content-Length"], [], context)
                        let body = try await response.body.collect(upTo: 1)
                        XCTAssertEqual(body.readableBytes, 0, context)
                    }
                }
            }
        }
    }

    func testThatAConnectionIsMemoryUntilItIsClosed() async throws {
        // Given a server with a connection
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let first = try client(certificate, .http1Only)
        let before = try await memory(server, first)
        let each = MemoryShare.encryptedConnections(of: MemoryBudget(limit: 1)).each
        XCTAssertGreaterThanOrEqual(before, each)
        // When there is another, then it counts until it is closed
        let second = try client(certificate, .http1Only)
        let both = try await memory(server, second)
        XCTAssertEqual(both, before + each)
        try await second.shutdown()
        var left = both
        for _ in 0..<5000 where left != before { left = try await memory(server, first) }
        XCTAssertEqual(left, before)
    }

    func testThatConnectionsHaveThreeEighthsOfTheMemoryEvenIfPicturesUseIt() {
        // Given memory for 200 connections, and pictures that use all the memory
        let memory = MemoryBudget(limit: 200 * 128 << 10)
        let connections = MemoryShare.encryptedConnections(of: memory)
        let pictures = memory.reserve(memory.limit)
        // Then 75 connections have room, and another has when one is closed
        var open = (0..<75).map { _ in connections.admit(nil) }
        XCTAssertFalse(open.contains { $0 == nil })
        XCTAssertNil(connections.admit(nil))
        open.removeLast()
        XCTAssertNotNil(connections.admit(nil))
        XCTAssertEqual(memory.reserved, 274 * 128 << 10)
        withExtendedLifetime((pictures, open)) {}
    }

    func testThatOneAddressLeavesRoomForConnectionsOfOthers() throws {
        let memory = MemoryBudget(limit: 200 * 128 << 10)
        let connections = MemoryShare.encryptedConnections(of: memory)
        let addresses = try ["192.0.2.1", "192.0.2.2"].map { ClientAddress(try XCTUnwrap(IPAddress($0))) }
        let open = (0..<100).map { _ in connections.admit(addresses[0]) }
        XCTAssertEqual(open.count { $0 != nil }, 38)
        XCTAssertNotNil(connections.admit(addresses[1]))
    }

    /// The memory in use, according to the metrics.
    private func memory(_ server: RunningServer, _ client: HTTPClient) async throws -> Int {
        let (_, metrics) = try await get(server.url + "/metrics", client)
        let line = String(buffer: metrics).split(separator: "\n").first { $0.hasPrefix("onesheet_render_memory_bytes ") }
        return try XCTUnwrap(line?.split(separator: " ").last.flatMap { Int($0) })
    }

    func testThatOnlyCipherSuitesWithForwardSecrecyAndAuthenticationAreSpoken() async throws {
        // Given a server with a certificate, which has an elliptic key
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        for (version, suites, isSpoken) in [
            (TLSVersion.tlsv12, [.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256], true),
            (.tlsv12, [.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384], true),
            (.tlsv12, [.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256], true),
            (.tlsv12, [.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, .TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA], false),
            (.tlsv11, [.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA], false), (.tlsv13, [], true),
        ] as [(TLSVersion, [NIOTLSCipher], Bool)] {
            // When a client offers one version of TLS with some suites
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate.certificate))
            (tls.minimumTLSVersion, tls.maximumTLSVersion) = (version, version)
            if !suites.isEmpty { tls.cipherSuiteValues = suites }
            // Then they agree, or the server refuses
            do {
                let (answer, _) = try await get(server.url + "/health", self.client(tls))
                XCTAssertTrue(isSpoken, "\(version) \(suites)")
                XCTAssertEqual(answer.status.code, 200)
            } catch {
                XCTAssertFalse(isSpoken, "\(version) \(suites): \(error)")
                XCTAssertTrue(error is NIOSSLError, "\(error)")
            }
        }
    }

    func testThatBrowsersAreToldToUseOnlyHTTPSIfTheOperatorWantsIt() async throws {
        let certificate = try SelfSigned(in: folder())
        let cases: [(String, String?)] = [("", nil), (", hsts: 365d", "max-age=31536000"), (", hsts: 0s", "max-age=0")]
        for (hsts, expected) in cases {
            // Given a server with a certificate, and a time or none
            let server = try await server(keys: certificate.yaml.replacing(" }", with: "\(hsts) }"))
            let client = try client(certificate)
            // Then every response tells it, also those of the fast path and problems
            for path in [poster, poster, "/health", "/nowhere", "/sources"] {
                let (answer, _) = try await get(server.url + path, client)
                XCTAssertEqual(answer.headers.first(name: "Strict-Transport-Security"), expected, "\(path) \(hsts)")
            }
        }
        // And nobody is told over plain HTTP (RFC 6797 §7.2)
        let plain = try await server().send("/health")
        XCTAssertNil(plain.field("Strict-Transport-Security"))
    }

    func testThatManyRequestsShareAConnectionOfHTTP2() async throws {
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let client = try client(certificate)
        _ = try await get(server.url + poster, client)
        try await withThrowingTaskGroup { group in
            for index in 0..<40 {
                group.addTask { [server] in
                    let response = try await client.execute(
                        HTTPClientRequest(url: server.url + "/i/unsafe/w:\(20 + index)/plain/sample://1@jpg"), timeout: .seconds(60)
                    )
                    XCTAssertEqual(response.status.code, 200)
                    _ = try await response.body.collect(upTo: 1 << 20)
                }
            }
            try await group.waitForAll()
        }
        let (_, metrics) = try await get(server.url + "/metrics", client)
        XCTAssertTrue(String(buffer: metrics).contains("onesheet_connections 1\n"))
    }

    func testThatTheFieldsOfARequestOverHTTP2AreLimitedToo() async throws {
        // Given a connected client
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let client = try client(certificate)
        func ask(_ bytes: Int) async throws -> Int {
            var request = HTTPClientRequest(url: server.url + "/health")
            request.headers.add(name: "a", value: String(repeating: "b", count: bytes))
            return Int(try await client.execute(request, timeout: .seconds(60)).status.code)
        }
        // When it sends the largest allowed header, then it gets a response
        let most = try await ask(15_000)
        XCTAssertEqual(most, 200)
        do {
            // When it sends more
            let more = try await ask(17_000)
            XCTFail("it is answered \(more)")
        } catch {
            // Then the connection closes immediately: the client's timeout has not passed
            XCTAssertNotEqual(error as? HTTPClientError, .deadlineExceeded)
        }
        // And later clients are served
        let (answer, _) = try await get(server.url + "/health", client)
        XCTAssertEqual(answer.status.code, 200)
    }

    func testThatARenewedCertificateIsForNewConnections() async throws {
        // Given a server and a connected client
        let folder = folder()
        let old = try SelfSigned(in: folder)
        let server = try await server(keys: old.yaml)
        let before = try client(old)
        let (first, _) = try await get(server.url + "/health", before)
        XCTAssertEqual(first.status.code, 200)
        // When the certificate is replaced
        let untrusting = try client(old)
        let new = try SelfSigned(in: folder)
        await server.reload(keys: new.yaml)
        // Then new clients get the new one, and the connected one stays connected
        let (after, _) = try await get(server.url + "/health", try client(new))
        XCTAssertEqual(after.status.code, 200)
        let (still, _) = try await get(server.url + "/health", before)
        XCTAssertEqual(still.status.code, 200)
        do {
            _ = try await get(server.url + "/health", untrusting)
            XCTFail("it is shown the old one")
        } catch {
            XCTAssertTrue(error is NIOSSLError, "\(error)")
        }
    }

    func testThatABadNewCertificateIsRefusedAndTheOldOneStays() async throws {
        // Given a server
        let certificate = try SelfSigned(in: folder())
        let client = try client(certificate)
        let server = try await server(keys: certificate.yaml, logger: lines.logger())
        let other = try SelfSigned(in: folder())
        let good = try String(contentsOfFile: certificate.key, encoding: .utf8)
        for (text, words) in [
            ("nonsense", "tls.key: cannot read"), ("", "tls.key: cannot read"),
            (try String(contentsOfFile: other.key, encoding: .utf8), "tls: the certificate and the key do not match"),
        ] {
            // When its key is damaged, or belongs to another certificate
            try Data(text.utf8).write(to: URL(filePath: certificate.key))
            await server.reload(keys: certificate.yaml)
            // Then the log reports that, and new connections use the old one
            let last = lines.all.last { $0.contains("the new certificate cannot be used") } ?? ""
            XCTAssertTrue(last.contains(words), last)
        }
        try Data(good.utf8).write(to: URL(filePath: certificate.key))
        let (answer, _) = try await get(server.url + "/health", client)
        XCTAssertEqual(answer.status.code, 200)
    }

    func testThatAServerDoesNotStartWithoutItsCertificate() async throws {
        let certificate = try SelfSigned(in: folder())
        for (keys, words) in [
            ("tls: { certificate: /none.pem, key: \"\(certificate.key)\" }", "tls.certificate: cannot read /none.pem"),
            ("tls: { certificate: \"\(certificate.key)\", key: \"\(certificate.key)\" }", "tls.certificate"),
            ("tls: { certificate: \"\(certificate.certificate)\" }", "tls"),
        ] {
            do {
                _ = try await server(keys: keys)
                XCTFail("it starts: \(keys)")
            } catch {
                XCTAssertTrue("\(error)".hasPrefix(words), "\(error)")
            }
        }
    }

    func testThatWhoeverDoesNotSpeakTLSIsLeftAndOthersAreNot() async throws {
        // Given a server with a short timeout
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { requestTimeout: 500ms }")
        for text in ["GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", ""] {
            // When a client sends other bytes, half a handshake, or nothing
            try await OpenConnection.with(server.url) { connection in
                if !text.isEmpty { try await connection.send(text) }
                // Then the connection closes without a response
                let answer = await connection.readToEnd()
                XCTAssertFalse(answer.contains("HTTP/1.1 200"), answer)
            }
        }
        let (answer, _) = try await get(server.url + "/health", try client(certificate))
        XCTAssertEqual(answer.status.code, 200)
    }

    func testThatAnIdleConnectionOfHTTP2EndsAlsoWhereItsClientDoesNotEvenSayGoodbye() async throws {
        // Given a server with a timeout that is short, but long enough for a handshake beside other tests
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { requestTimeout: 1h, idleTimeout: 500ms }")
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate.certificate))
        configuration.applicationProtocols = ["h2"]
        let tls = try NIOSSLContext(configuration: configuration)
        let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        let settings = "\0\0\0\u{4}\0\0\0\0\0"
        for said in [preface + settings, preface, "PRI * HTTP/2.0\r\n"] {
            try await OpenConnection.with(server.url, tls) { connection in
                // When a client starts (RFC 9113 §3.4) and then stays silent
                try await connection.send(said)
                // Then the connection closes
                let answer = await connection.readToEnd()
                XCTAssertFalse(answer.isEmpty, said)
            }
        }
        let (answer, _) = try await get(server.url + "/health", try client(certificate))
        XCTAssertEqual(answer.status.code, 200)
    }

    func testThatAServerWithOpenConnectionsEnds() async throws {
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        for version in [HTTPClient.Configuration.HTTPVersion.http1Only, .automatic] {
            _ = try await get(server.url + "/health", try client(certificate, version))
        }
        XCTAssertTrue(server.server.drain())
        try await server.end()
    }

    /// A client that trusts only `certificate`.
    private func client(
        _ certificate: SelfSigned, _ version: HTTPClient.Configuration.HTTPVersion = .automatic
    ) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate.certificate))
        return client(tls, version)
    }

    private func client(_ tls: TLSConfiguration, _ version: HTTPClient.Configuration.HTTPVersion = .automatic) -> HTTPClient {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = version
        // A failed connection is a valid outcome here.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        // A test may have done it.
        addTeardownBlock { try? await client.shutdown() }
        return client
    }

    /// The response as text, except for time and durations.
    private func ask(
        _ url: String, _ method: HTTPMethod, fields: [(String, String)], by client: HTTPClient
    ) async throws -> [String] {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let head = response.headers.filter { !["date", "server-timing"].contains($0.name.lowercased()) }
        let body = try await response.body.collect(upTo: 1 << 20)
        return ["\(response.status.code)"] + head.map { "\($0.name): \($0.value)" } + ["\(body.readableBytesView.map { $0 })"]
    }

    private func get(_ url: String, _ client: HTTPClient) async throws -> (HTTPClientResponse, ByteBuffer) {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        return (response, try await response.body.collect(upTo: 1 << 20))
    }
}

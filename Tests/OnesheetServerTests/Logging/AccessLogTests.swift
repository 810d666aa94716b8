import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOSSL
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// One line for each request, in whichever way it is answered.
final class AccessLogTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"
    private let traceID = "0af7651916cd43dd8448eb211c80319c"

    func testThatEveryRequestHasALineInWhicheverWayItIsAnswered() async throws {
        for hasFastPath in [true, false] {
            // Given a server with a picture in memory and an access log
            let log = folder()
            let server = try await server(keys: "accessLog: { path: \"\(log)\" }", hasFastPath: hasFastPath)
            let first = try await server.send(poster)
            let tag = try XCTUnwrap(first.field("ETag"))
            // When it gets many kinds of requests on one connection
            let fields = ["User-Agent: one \"two\"", "Referer: http://a.example/"]
            for _ in 0..<20 { _ = try await RawConnection.exchange([plain(poster, fields)], with: server.url) }
            _ = try await RawConnection.exchange(
                [
                    plain(poster, ["If-None-Match: \(tag)"]) + plain("/nowhere?a=b"), plain("/health"),
                    Array("HEAD \(poster) HTTP/1.1\r\nHost: h\r\n\r\nGET /health HTTP/1.0\r\n\r\n".utf8),
                ], with: server.url)
            _ = try await RawConnection.exchange([Array("nonsense\r\n\r\n".utf8)], with: server.url)
            await server.stop()
            // Then each has its line, in their order
            let lines = try lines(log)
            XCTAssertEqual(lines.count, 27, "\(lines)")
            for line in lines {
                XCTAssertNotNil(line.wholeMatch(of: Self.combined), line)
            }
            let hit = "\"GET \(poster) HTTP/1.1\" 200 \(first.body.readableBytes) \"http://a.example/\" \"one \\x22two\\x22\""
            XCTAssertEqual(lines.count { $0.hasSuffix(hit) }, 20, "\(lines)")
            XCTAssertTrue(lines[21].contains("\"GET \(poster) HTTP/1.1\" 304 0 \"-\" \"-\""), lines[21])
            XCTAssertTrue(lines[22].contains("\"GET /nowhere?a=b HTTP/1.1\" 404 "), lines[22])
            XCTAssertTrue(lines[23].contains("\"GET /health HTTP/1.1\" 200 3 "), lines[23])
            XCTAssertTrue(lines[24].contains("\"HEAD \(poster) HTTP/1.1\" 200 0 "), lines[24])
            XCTAssertTrue(lines[25].contains("\"GET /health HTTP/1.0\" 200 3 "), lines[25])
            XCTAssertTrue(lines[26].contains("\"-\" 400 "), lines[26])
            XCTAssertTrue(lines[0].hasPrefix("127.0.0.1 - - ["), lines[0])
        }
    }

    func testThatHTTP2IsLoggedAsJSONWithNumbersAsNumbers() async throws {
        // Given a server with HTTP/2
        let (log, certificate) = (folder(), try SelfSigned(in: folder()))
        let server = try await server(keys: certificate.yaml + "\naccessLog: { path: \"\(log)\", format: json }")
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate.certificate))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: configuration))
        addTeardownBlock { try await client.shutdown() }
        // When a picture is requested twice, and another address once, through a trusted proxy
        for path in [poster, poster, "/한?é=\"\u{202E}"] {
            var request = HTTPClientRequest(
                url: server.url + (path.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? ""))
            request.headers = [
                "X-Forwarded-For": "198.51.100.7, 2001:db8::1", "User-Agent": "a\\b \u{e9}",
                "traceparent": "00-\(traceID)-b7ad6b7169203331-00",
            ]
            let response = try await client.execute(request, timeout: .seconds(60))
            _ = try await response.body.collect(upTo: 1 << 20)
        }
        await server.stop()
        // Then each line says how it was answered
        let documents = try lines(log).map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
        XCTAssertEqual(documents.map { $0["status"] as? Int }, [200, 200, 404])
        XCTAssertEqual(documents.map { $0["cache"] as? String }, ["miss", "hit", nil])
        XCTAssertEqual(documents.map { $0["tier"] as? String }, [nil, "memory", nil])
        for document in documents {
            XCTAssertEqual(document["protocol"] as? String, "HTTP/2.0")
            XCTAssertEqual(document["trace_id"] as? String, traceID)
            XCTAssertEqual(document["client"] as? String, "2001:db8:0:0:0:0:0:1")
            XCTAssertEqual(document["userAgent"] as? String, "a\\b \u{e9}")
            XCTAssertNotNil((document["time"] as? String)?.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/))
            XCTAssertGreaterThan(document["milliseconds"] as? Double ?? 0, 0)
            XCTAssertGreaterThan(document["bytes"] as? Int ?? 0, 0)
        }
        XCTAssertNotNil(documents[2]["request"] as? String)
    }

    func testThatNoClientWritesALineOfItsOwn() throws {
        // Given texts that end lines and texts, control terminals and change directions
        let hostile = "a\"\\\n\r\u{1B}[31m\u{85}\u{202E}\u{FEFF}\0é"
        var head = HTTPRequestHead(version: .http1_1, method: .RAW(value: hostile), uri: "/\(hostile)")
        head.headers = ["Referer": hostile, "User-Agent": hostile]
        let request = LoggedRequest(head: .unreadable, peer: nil)
        for format in AccessLogConfiguration.Format.allCases {
            // When they are written
            var (writer, bytes) = (AccessLine(format), [UInt8]())
            writer.append(request, RequestFacts(head), client: nil, at: Date(timeIntervalSince1970: 0.25), to: &bytes)
            let line = String(decoding: bytes, as: UTF8.self)
            // Then they are one line of what is visible, in its format
            XCTAssertEqual(line.unicodeScalars.count { $0 == "\n" }, 1)
            XCTAssertFalse(
                line.dropLast().unicodeScalars.contains { "\r\u{1B}\u{85}\u{202E}\u{FEFF}\0".unicodeScalars.contains($0) })
            switch format {
            case .combined:
                XCTAssertTrue(line.hasPrefix("- - - [01/Jan/1970:00:00:00 +0000] \"a\\x22\\x5C\\x0A\\x0D\\x1B[31m\\xC2\\x85"), line)
            case .json:
                let document = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], line)
                XCTAssertEqual(document["method"] as? String, hostile)
                XCTAssertEqual(document["userAgent"] as? String, hostile)
                XCTAssertEqual(document["time"] as? String, "1970-01-01T00:00:00.250Z")
            }
        }
    }

    func testThatARenamedFileIsLeftAndAHangUpMakesANewOne() async throws {
        // Given a server whose log has a line
        let log = folder()
        let server = try await server(keys: "accessLog: { path: \"\(log)\" }")
        addTeardownBlock { for number in 1...2 { try FileManager.default.removeItem(atPath: "\(log).\(number)") } }
        _ = try await server.send("/health")
        await waitWhile(count(log) < 1)
        // When the file is renamed, then the next line is in a new one
        try FileManager.default.moveItem(atPath: log, toPath: "\(log).1")
        _ = try await server.send("/ready")
        await waitWhile(count(log) < 1)
        // And when it is renamed and the server reloads, then the new one is there without a request
        try FileManager.default.moveItem(atPath: log, toPath: "\(log).2")
        await server.reload(keys: "accessLog: { path: \"\(log)\" }")
        await waitWhile(!FileManager.default.fileExists(atPath: log))
        await server.stop()
        XCTAssertEqual(try ["\(log).1", "\(log).2", log].map { try lines($0).count }, [1, 1, 0])
        // And others can neither read nor write it
        let mode = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int ?? 0o777
        XCTAssertEqual(mode & 0o037, 0)
    }

    func testThatAFullDiskCostsLinesAndNoRequest() async throws {
        // Given a log on a full device
        let lines = LogLines()
        let server = try await server(keys: "accessLog: { path: /dev/full }", logger: lines.logger())
        // When requests are answered
        for _ in 0..<5 { let status = try await server.send("/health").status; XCTAssertEqual(status, 200) }
        // Then they are counted, and one message says why
        var text = ""
        for _ in 0..<1000 where !text.contains("onesheet_access_log_dropped_total 5") {
            text = try await server.send("/metrics").text
            await Task.yield()
        }
        XCTAssertTrue(text.contains("# TYPE onesheet_access_log_dropped_total counter"), text)
        await server.stop()
        XCTAssertEqual(lines.all.count { $0.contains("lines of the access log are lost: cannot write /dev/full") }, 1)
    }

    func testThatABlockedFileHoldsUpNobody() async throws {
        // Given a pipe that nobody reads
        let path = folder()
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let log = try XCTUnwrap(try accessLog(path))
        // When more requests are answered than may wait
        let number = AccessLog.maxRequests * 3
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        head.headers = ["User-Agent": String(repeating: "a", count: 100)]
        for _ in 0..<number { log.add(LoggedRequest(head: .parsed(RequestFacts(head)), peer: nil)) }
        // Then the rest is dropped, and the end does not wait either
        XCTAssertGreaterThan(log.dropped, 0)
        await log.close(within: .milliseconds(1))
        // And once the pipe is read, each request has a line or is counted
        var (buffer, lines) = ([UInt8](repeating: 0, count: 1 << 16), 0)
        let deadline = ContinuousClock.now + .seconds(60)
        while lines + log.dropped < number, ContinuousClock.now < deadline {
            let count = read(reader, &buffer, buffer.count)
            if count > 0 { lines += buffer[..<count].count { $0 == UInt8(ascii: "\n") } } else { await Task.yield() }
        }
        XCTAssertEqual(lines + log.dropped, number)
    }

    func testThatAPathThatCannotBeOpenedStopsTheStart() throws {
        for (path, words) in [("/nowhere/access.log", "No such file"), ("/", "directory")] {
            XCTAssertThrowsError(try accessLog(path)) { error in
                XCTAssertTrue("\(error)".hasPrefix("accessLog.path: cannot open \(path)"), "\(error)")
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
        }
        var configuration = AccessLogConfiguration()
        configuration.path = "/nowhere/access.log"
        XCTAssertThrowsError(try configuration.requireFolder()) {
            XCTAssertEqual("\($0)", "accessLog.path: there is no folder /nowhere")
        }
        configuration.path = "/tmp"
        XCTAssertThrowsError(try configuration.requireFolder()) {
            XCTAssertEqual("\($0)", "accessLog.path: “/tmp” is a folder; it needs a file")
        }
        for path in ["access.log", "/access.log", "stdout"] {
            configuration.path = path
            XCTAssertNoThrow(try configuration.requireFolder(), path)
        }
        XCTAssertNil(try accessLog(nil))
    }

    func testThatAClientThatLeavesEarlyHasALineToo() async throws {
        // Given a connection with three requests, one of them answered and one begun
        let path = folder()
        let log = try XCTUnwrap(try accessLog(path))
        let channel = EmbeddedChannel(handler: AccessLogHandler(log, peer: nil))
        for target in ["/1", "/2", "/3"] {
            try channel.writeInbound(HTTPServerRequestPart.head(.init(version: .http1_1, method: .GET, uri: target)))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
        }
        for part: HTTPServerResponsePart in [
            .head(.init(version: .http1_1, status: .continue)), .head(.init(version: .http1_1, status: .ok)),
            .body(.byteBuffer(ByteBuffer(string: "12"))), .body(.byteBuffer(ByteBuffer(string: "345"))), .end(nil),
            .head(.init(version: .http1_1, status: .ok)), .body(.byteBuffer(ByteBuffer(string: "6"))),
        ] { try channel.writeOutbound(part) }
        // When the client leaves
        _ = try channel.finish(acceptAlreadyClosed: true)
        await log.close(within: .seconds(60))
        // Then the others say how far they came
        let ends = try lines(path).map { $0.split(separator: "] ").last ?? "" }
        XCTAssertEqual(
            ends,
            [
                "\"GET /1 HTTP/1.1\" 200 5 \"-\" \"-\"", "\"GET /2 HTTP/1.1\" 200 1 \"-\" \"-\"",
                "\"GET /3 HTTP/1.1\" 499 0 \"-\" \"-\"",
            ])
    }

    nonisolated(unsafe) private static let combined =
        /\S+ - - \[\d\d\/[A-Z][a-z][a-z]\/20\d\d:\d\d:\d\d:\d\d \+0000\] "([^"\\]|\\x..)*" \d{3} \d+ "([^"\\]|\\x..)*" "([^"\\]|\\x..)*"/

    private func accessLog(_ path: String?) throws -> AccessLog? {
        var configuration = AccessLogConfiguration()
        configuration.path = path
        return try AccessLog(
            configuration, of: ClientIdentity(trustedProxies: [.loopback]), clock: .system, logger: RunningServer.silent)
    }

    private func plain(_ target: String, _ fields: [String] = []) -> [UInt8] {
        Array(("GET \(target) HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
    }

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// The number of lines; 0 if there is no file.
    private func count(_ path: String) -> Int {
        FileManager.default.contents(atPath: path)?.count { $0 == UInt8(ascii: "\n") } ?? 0
    }
}

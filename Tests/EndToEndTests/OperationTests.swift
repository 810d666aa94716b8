import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// A running server that receives signals and changes of its files.
final class OperationTests: XCTestCase {
    private var folder = URL(filePath: "/")
    private var file: URL { folder.appending(path: "onesheet.yaml") }

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { [folder] in try FileManager.default.removeItem(at: folder) }
    }

    func testThatTheSecondSignalEndsItAtOnce() async throws {
        // Given a server with a shutdown delay of an hour
        try configure("shutdown: { delay: 1h }\nlog: { format: json }")
        let (server, url, log) = try await Program.serveWithLog([], in: folder)
        // When it receives SIGTERM
        kill(server.processIdentifier, SIGTERM)
        let said = await log.read(until: "shutting down")
        // Then it continues and reports that it is not ready
        XCTAssertTrue(said.contains("\"message\":\"shutting down\""), said)
        let ready = try await Self.status(url + "/ready")
        XCTAssertEqual(ready, 503)
        // And a second signal ends it
        kill(server.processIdentifier, SIGINT)
        server.waitUntilExit()
        XCTAssertEqual(server.terminationStatus, 1)
        XCTAssertEqual(server.terminationReason, .exit)
    }

    func testThatMoreClientsThanFilesKeepNobodyOutForEver() async throws {
        // Given a server with a low limit of open files
        try configure("clients: { idleTimeout: 1s }")
        let (server, url, log) = try await Program.serveWithLog([], in: folder, files: 96)
        // Then it logs the number of clients for that limit, and a solution
        let said = await log.read(until: "clients.connections\n")
        XCTAssertTrue(said.contains("the limit of 96 open files allows 24 connections, not 8192; raise the limit"), said)
        // And when more clients connect and stay silent
        let port = try XCTUnwrap(url.split(separator: ":").last.flatMap { UInt16($0) })
        let connections = try (0..<60).map { _ in try Self.connect(to: port) }
        // Then later clients are served after the silent ones have been disconnected
        let status = try await Self.status(url + "/health")
        XCTAssertEqual(status, 200)
        for connection in connections { close(connection) }
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatAServerWithoutDescriptorsGoesOnAndTellsItsClients() async throws {
        // Given a server that can open few more files, contrary to the limit at its start
        try configure("")
        let (server, url) = try await Program.serve([], in: folder)
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.processIdentifier)/fd").compactMap(Int.init)
        let most = (files.max() ?? 0) + 6
        let limit = Process()
        limit.executableURL = URL(filePath: "/usr/bin/env")
        limit.arguments = ["prlimit", "--pid", "\(server.processIdentifier)", "--nofile=\(most):\(most)"]
        try limit.run()
        limit.waitUntilExit()
        XCTAssertEqual(limit.terminationStatus, 0)
        // When more clients connect
        let port = try XCTUnwrap(url.split(separator: ":").last.flatMap { UInt16($0) })
        let connections = try (0..<most).map { _ in try Self.connect(to: port) }
        // Then a client without a descriptor is disconnected and does not wait
        var places = connections.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        XCTAssertGreaterThan(poll(&places, nfds_t(places.count), 60_000), 0)
        // And after they leave, the server serves new clients
        for connection in connections { close(connection) }
        // The next one may come before their descriptors are free, and is disconnected then.
        var status: Int?
        for _ in 0..<600 where status == nil {
            do { status = try await Self.status(url + "/health") } catch { try await Task.sleep(for: .milliseconds(100)) }
        }
        XCTAssertEqual(status, 200)
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    /// A silent connection.
    private static func connect(to port: UInt16) throws -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(connection)
            throw ConnectError(errno: errno)
        }
        return connection
    }

    private struct ConnectError: Error { let errno: Int32 }

    func testThatARequestUnderWayIsAnsweredBeforeItEnds() async throws {
        // Given a server that waits for an origin
        let gate = Gate()
        let picture = ByteBuffer(bytes: try await poster())
        let origin = try await OriginServer.start { _, _ in .held(gate, .answer(type: "image/jpeg", body: picture)) }
        addTeardownBlock { try await origin.stop() }
        try configure(
            "shutdown: { deadline: 1h }\nlimits: { originTimeout: 1h, originIdleTimeout: 1h }",
            sources: "{ web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] } }")
        let (server, url, log) = try await Program.serveWithLog([], in: folder)
        async let status = Self.status(url + "/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        await gate.hasBeenReached()
        // When it receives SIGTERM, and the origin responds only then
        kill(server.processIdentifier, SIGTERM)
        let said = await log.read(until: "shutting down")
        XCTAssertTrue(said.contains("shutting down"), said)
        gate.open()
        // Then the request gets its response, and the server exits with success
        let answered = try await status
        XCTAssertEqual(answered, 200)
        server.waitUntilExit()
        XCTAssertEqual(server.terminationStatus, 0)
        XCTAssertEqual(server.terminationReason, .exit)
    }

    func testThatAnEndedServerLeavesNoProgramOfASource() async throws {
        // Given a server whose source is a program that goes on without its input and ignores SIGTERM
        let (server, end) = try await serveStubbornProgram("shutdown: { deadline: 2s }")
        defer { close(end) }
        // When the server ends
        Program.end(server)
        // Then the program ends too
        XCTAssertEqual(server.terminationStatus, 0)
        assertClosed(end)
    }

    func testSecondSignalLeavesNoProgramOfASource() async throws {
        // Given such a server with a shutdown delay of an hour
        let (server, end) = try await serveStubbornProgram("shutdown: { delay: 1h }")
        defer { close(end) }
        // When it receives two signals
        kill(server.processIdentifier, SIGTERM)
        kill(server.processIdentifier, SIGINT)
        server.waitUntilExit()
        // Then the program ends too
        XCTAssertEqual(server.terminationStatus, 1)
        assertClosed(end)
    }

    /// A server with a source that is a program, which goes on without its input and ignores SIGTERM, and has answered.
    /// - Returns: the server, and the reading end of a pipe that the program holds open.
    private func serveStubbornProgram(_ keys: String) async throws -> (Process, end: Int32) {
        let pipe = folder.appending(path: "pipe").path
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        let end = open(pipe, O_RDONLY | O_NONBLOCK)
        let script = """
            exec 9> pipe; trap '' TERM
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"id":%s,"result":{"id":"1","name":"One"}}\\n' "$id" ;;
                esac
            done
            while :; do sleep 3600; done
            """
        try script.write(to: folder.appending(path: "films.sh"), atomically: true, encoding: .utf8)
        try configure(keys, sources: "{ films: { type: exec, command: [/bin/sh, films.sh] } }")
        let (server, url) = try await Program.serve([], in: folder)
        let status = try await Self.status(url + "/sources/films/titles/1")
        XCTAssertEqual(status, 200)
        return (server, end)
    }

    /// No process holds the other end of a pipe, now or soon.
    private func assertClosed(_ end: Int32) {
        var poll = pollfd(fd: end, events: 0, revents: 0)
        XCTAssertEqual(Foundation.poll(&poll, 1, 10_000), 1)
        XCTAssertEqual(poll.revents & Int16(POLLHUP), Int16(POLLHUP))
    }

    func testThatAHangUpReadsTheConfigurationAgain() async throws {
        // Given a server
        try configure("presets: { card: \"rs:fit:60:0\" }\nlog: { level: info }")
        let (server, url, log) = try await Program.serveWithLog([], in: folder)
        defer { Program.end(server) }
        let before = try await Self.status(url + "/i/unsafe/pr:wall/plain/sample://1@jpg")
        XCTAssertEqual(before, 400)
        // When its file changes and it receives SIGHUP
        try configure("presets: { wall: \"rs:fit:60:0\" }")
        kill(server.processIdentifier, SIGHUP)
        let said = await log.read(until: "reloaded")
        // Then it uses the new configuration, and names the keys that need a restart
        XCTAssertTrue(said.contains("reloaded"), said)
        let after = try await Self.status(url + "/i/unsafe/pr:wall/plain/sample://1@jpg")
        XCTAssertEqual(after, 200)
        let warned = await log.read(until: "after a restart")
        XCTAssertTrue(warned.contains("changes of log take effect"), warned)
    }

    func testThatAChangedFileIsReadWithoutASignalAndABadOneIsRefused() async throws {
        // Given a server
        try configure("presets: { card: \"rs:fit:60:0\" }")
        let (server, url, log) = try await Program.serveWithLog([], in: folder)
        defer { Program.end(server) }
        // When its file is damaged
        try configure("presets: [")
        let said = await log.read(until: "the old one stays")
        // Then it logs that and continues
        XCTAssertTrue(said.contains("error") && said.contains("onesheet.yaml"), said)
        let still = try await Self.status(url + "/i/unsafe/pr:card/plain/sample://1@jpg")
        XCTAssertEqual(still, 200)
        // And after a repair the new configuration applies
        try configure("presets: { wall: \"rs:fit:60:0\" }")
        _ = await log.read(until: "reloaded")
        let after = try await Self.status(url + "/i/unsafe/pr:wall/plain/sample://1@jpg")
        XCTAssertEqual(after, 200)
    }

    private func configure(_ keys: String, sources: String = "{ sample: { type: sample } }") throws {
        try Data("cache: { disk: { path: c } }\n\(keys)\nsources: \(sources)\n".utf8).write(to: file)
    }

    /// A picture for an origin.
    private func poster() async throws -> Data {
        try configure("")
        let (server, url) = try await Program.serve([], in: folder)
        defer { Program.end(server) }
        return try await WebAnswer.to(url + "/t/p/w342/sample/1.jpg").body
    }

    private static func status(_ url: String) async throws -> Int { try await WebAnswer.to(url).status }
}

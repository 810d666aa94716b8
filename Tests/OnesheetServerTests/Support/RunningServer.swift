import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// A whole server on a free port with its own cache folder, for one test.
struct RunningServer {
    let url: String
    let cache: String
    /// The handle for stopping the server and reloading its configuration.
    let server: Server
    private let task: Task<Void, any Error>
    /// The server ended without an error before it listened.
    private struct EndedTooEarly: Error {}

    /// A discarded log.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Starts a server with `sources` (YAML below `sources:`) and other top-level keys.
    static func start(
        sources: String = "sample: { type: sample }", keys: String = "", memory: String = "256MiB", cache: String,
        clock: WallClock = .system,
        hasFastPath: Bool = true, environment: [String: String] = [:], recordReplay: RecordReplay = .off,
        logger: Logger = silent, listen: String = "127.0.0.1:0", plugins: PluginList = .standard, tiers: String = "",
        stallTimeout: TimeAmount = ResponseMemory.stallTimeout
    ) async throws -> RunningServer {
        let yaml = yaml(sources: sources, keys: keys, memory: memory, cache: cache, listen: listen, tiers: tiers)
        var configuration = try ConfigurationFile(environment: environment).parse(yaml)
        configuration.recordReplay = recordReplay
        configuration.stallTimeout = stallTimeout
        let server = try Server(configuration, plugins, clock: clock, logger: logger, hasFastPath: hasFastPath)
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let task = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0) }
        }
        guard let address = await addresses.first(where: { _ in true }) else {
            try await task.value
            throw EndedTooEarly()
        }
        return RunningServer(url: url(of: address, isSecure: configuration.tls != nil), cache: cache, server: server, task: task)
    }

    /// In the form of the client library.
    private static func url(of address: ListenAddress, isSecure: Bool) -> String {
        guard case .socket(let path) = address else { return "http\(isSecure ? "s" : "")://\(address)" }
        return "http+unix://" + path.replacing("/", with: "%2F")
    }

    /// A configuration file.
    static func yaml(
        sources: String = "sample: { type: sample }", keys: String = "", memory: String = "256MiB", cache: String,
        listen: String = "127.0.0.1:0", tiers: String = ""
    ) -> String {
        // A server on a socket needs explicit permission for unsigned requests.
        let keys = listen.hasPrefix("unix:") && !keys.contains("signing:") ? keys + "\nsigning: { unsafe: true }" : keys
        return """
            listen: "\(listen)"
            cache: { memory: { bytes: \(memory) }, disk: { path: "\(cache)" }, tiers: [\(tiers)] }
            \(keys)
            sources:
            \(sources.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
            """
    }

    /// Makes the server reload its configuration.
    func reload(sources: String = "sample: { type: sample }", keys: String = "") async {
        await server.reload { try ConfigurationFile(environment: [:]).parse(Self.yaml(sources: sources, keys: keys, cache: cache)) }
    }

    /// Waits until the disk tier has stored the entries of earlier responses.
    func finishStoring() async { await server.responder.context.pipeline.cache.finishStoring() }

    /// Stops the server immediately.
    func stop() async {
        task.cancel()
        _ = await task.result
    }

    /// Waits until the server has ended by itself.
    func end() async throws { try await task.value }

    /// Shows responses as they come: the shared client unpacks bodies and asks for gzip itself.
    private static let client = {
        var configuration = HTTPClient.Configuration()
        // The server has ended, so a retry cannot succeed.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Hundreds of requests at once wait for their turn.
        configuration.timeout.connect = .seconds(60)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Sends a request and reads the whole response.
    func send(
        _ path: String, method: String = "GET", fields: [(String, String)] = [], body: String? = nil
    ) async throws -> ServerAnswer {
        var request = HTTPClientRequest(url: url)
        // Sends the path unchanged: the client library would correct invalid ones.
        request.url = url + path
        request.method = HTTPMethod(rawValue: method)
        // The name of a file is not a host.
        if url.hasPrefix("http+unix") { request.headers.add(name: "Host", value: "localhost") }
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await Self.client.execute(request, timeout: .seconds(60))
        return ServerAnswer(
            status: Int(response.status.code), fields: response.headers, body: try await response.body.collect(upTo: 64 << 20))
    }
}

/// The response of a server.
struct ServerAnswer {
    let status: Int
    let fields: HTTPHeaders
    let body: ByteBuffer

    func field(_ name: String) -> String? { fields.first(name: name) }
    var text: String { String(buffer: body) }

    /// The body as JSON.
    func json() throws -> [String: Any] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(body.readableBytesView)) as? [String: Any])
    }
}

/// A test with servers, origins and folders that are removed afterwards.
class ServerTestCase: XCTestCase {
    func server(
        sources: String = "sample: { type: sample }", keys: String = "", memory: String = "256MiB", cache: String? = nil,
        clock: WallClock = .system,
        hasFastPath: Bool = true, environment: [String: String] = [:], recordReplay: RecordReplay = .off,
        logger: Logger = RunningServer.silent, listen: String = "127.0.0.1:0", plugins: PluginList = .standard,
        tiers: String = "", stallTimeout: TimeAmount = ResponseMemory.stallTimeout
    ) async throws -> RunningServer {
        let server = try await RunningServer.start(
            sources: sources, keys: keys, memory: memory, cache: cache ?? folder(), clock: clock, hasFastPath: hasFastPath,
            environment: environment, recordReplay: recordReplay, logger: logger, listen: listen, plugins: plugins, tiers: tiers,
            stallTimeout: stallTimeout)
        addTeardownBlock { await server.stop() }
        return server
    }

    func origin(_ answer: @escaping @Sendable (String, [String: String]) -> OriginAnswer) async throws -> OriginServer {
        let origin = try await OriginServer.start(answer)
        addTeardownBlock { try await origin.stop() }
        return origin
    }

    /// Asks until `isCached`. A server that has just started polls its folders, and the purge of that poll discards every image that is
    /// being made.
    func untilCached(_ isCached: () async throws -> Bool, file: StaticString = #filePath, line: UInt = #line) async throws {
        for _ in 0..<100 { if try await isCached() { return } }
        XCTFail("still not cached after a hundred requests", file: file, line: line)
    }

    /// A source that may request everything from `origin`.
    func web(_ origin: OriginServer) -> String { "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }" }

    /// The source `tmdb`.
    /// - Parameters:
    ///   - api: the URL of its service.
    ///   - more: further keys.
    func tmdb(_ api: String, variables: String = "token: ours", more: String = "") -> String {
        """
        tmdb:
          type: rest
          manifest: tmdb
          variables: { \(variables) }
          baseURL: "\(api)"
          networks: [loopback]
          \(more)
        """
    }

    /// An empty folder.
    func folder() -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)").path
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Fails unless `answer` is a problem document with this status whose detail contains `words`.
    func assertProblem(
        _ answer: ServerAnswer, _ status: Int, _ words: String, context: String = "", file: StaticString = #filePath,
        line: UInt = #line
    ) {
        XCTAssertEqual(answer.status, status, "\(context) \(answer.text)", file: file, line: line)
        XCTAssertEqual(answer.field("Content-Type"), "application/problem+json", context, file: file, line: line)
        XCTAssertEqual(answer.field("Cache-Control"), "no-store", context, file: file, line: line)
        do {
            let problem = try answer.json()
            XCTAssertEqual(problem["status"] as? Int, status, context, file: file, line: line)
            XCTAssertTrue(
                (problem["detail"] as? String ?? "").contains(words), "\(context) \(answer.text) does not say “\(words)”",
                file: file,
                line: line)
        } catch {
            XCTFail("\(context) \(error)", file: file, line: line)
        }
    }
}

import Foundation
import Logging
import OnesheetClient
import OnesheetCore
import OnesheetServer
import OnesheetTesting
import StandardPlugins
import XCTest

/// A test with servers that are stopped afterwards.
class ClientTestCase: XCTestCase {
    /// The server ended before it listened.
    private struct EndedTooEarly: Error {}
    private struct NoError: Error {}

    /// Starts a whole server on a free port, with its own cache folder.
    /// - Returns: its URL.
    func server(sources: String = "sample: { type: sample }", keys: String = "") async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-client-\(UUID().uuidString)").path
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let configuration = try ConfigurationFile(environment: [:]).parse(
            """
            listen: "127.0.0.1:0"
            cache: { disk: { path: "\(folder)" } }
            admin: { token: secret-for-tests }
            \(keys)
            sources: { \(sources) }
            """)
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try Server(configuration, .standard, logger: silent)
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let task = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0) }
        }
        addTeardownBlock {
            task.cancel()
            _ = await task.result
        }
        guard let address = await addresses.first(where: { _ in true }) else { throw EndedTooEarly() }
        return "http://\(address)"
    }

    /// An origin that is stopped afterwards.
    func origin(_ answer: @escaping @Sendable (String, [String: String]) -> OriginAnswer) async throws -> OriginServer {
        let origin = try await OriginServer.start(answer)
        addTeardownBlock { try await origin.stop() }
        return origin
    }

    /// The error of `body`.
    func failure(
        file: StaticString = #filePath, line: UInt = #line, of body: () async throws(ClientError) -> Void
    ) async throws -> ClientError {
        do { try await body() } catch { return error }
        XCTFail("there is no error", file: file, line: line)
        throw NoError()
    }
}

/// Answers every request with the same parts, and then ends or fails.
struct FixedTransport: Transport {
    var parts: [TransportPart]
    var failure: (any Error)?

    init(_ parts: [TransportPart], failure: (any Error)? = nil) {
        self.parts = parts
        self.failure = failure
    }

    init(status: Int = 200, type: String = "application/json", _ body: String) {
        self.init([.head(status: status, fields: ["content-type": type]), .bytes(Array(body.utf8))])
    }

    func send(
        _ request: TransportRequest, _ receive: @Sendable (TransportPart) async throws(ClientError) -> Void
    ) async throws {
        for part in parts { try await receive(part) }
        if let failure { throw failure }
    }
}

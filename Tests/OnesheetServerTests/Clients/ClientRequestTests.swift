import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import OnesheetCore
import OnesheetHTTP
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

final class ClientRequestTests: XCTestCase {
    func testThatARequestCountsOnceAlsoIfItIsRefused() async throws {
        // Given room for two requests that wait, and an address that may cause one miss
        var clients = ClientsConfiguration()
        (clients.perAddress.misses, clients.perAddress.burst) = (0.001, 1)
        let misses = FairLimit(2)
        let connections = OpenConnections(clients, memory: ResponseMemory(limit: 1 << 20), misses: misses)
        let channel = NIOAsyncTestingChannel()
        try connections.add(channel)
        // When a request asks for several images at the same time
        try await Self.answer(on: channel, of: connections) {
            let errors = await Self.misses(3)
            // Then it counts once
            XCTAssertEqual(errors, [nil, nil, nil])
            XCTAssertEqual(Self.free(misses), 1)
        }
        XCTAssertEqual(Self.free(misses), 2)
        // When the next one is beyond the share of its address
        try await Self.answer(on: channel, of: connections) {
            let errors = await Self.misses(3)
            // Then it is refused, each time it asks
            for error in errors {
                guard case .tooManyRequests? = error else { return XCTFail("\(errors)") }
            }
            // And it counts once
            XCTAssertEqual(Self.free(misses), 1)
        }
        XCTAssertEqual(Self.free(misses), 2)
        _ = try await channel.finish()
    }

    private static func answer(
        on channel: NIOAsyncTestingChannel, of connections: OpenConnections, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "h", path: "/", headerFields: [.forwardedFor: "192.0.2.1"])
        let writer = ResponseWriter(outbound: NIOAsyncChannelOutboundWriter.makeTestingWriter().0)
        try await ClientRequest.answer(Request(head: head, body: .init(buffer: ByteBuffer())), writer, on: channel, of: connections)
        {
            _, _, _ in try await body()
        }
    }

    /// Takes the permit of the request `count` times at the same time.
    private static func misses(_ count: Int) async -> [PipelineError?] {
        await withTaskGroup(of: PipelineError?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do throws(PipelineError) { try MissPermit.use() } catch { return error }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The requests that may still wait.
    private static func free(_ misses: FairLimit) -> Int {
        var count = 0
        while misses.begin(nil) { count += 1 }
        for _ in 0..<count { misses.end(nil) }
        return count
    }
}

import NIOCore
import NIOEmbedded
import OnesheetCore
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

/// Idle connections, which are closed when hardly another one can be accepted.
final class OpenConnectionsTests: XCTestCase {
    private var connections = OpenConnectionsTests.connections()

    private var channels: [EmbeddedChannel] = []

    func testThatTheAddressWithTheMostLosesItsOldestConnections() throws {
        // Given an address with ten connections, and two with one
        let greedy = try (0..<10).map { _ in try open(from: "192.0.2.1") }
        let others = try ["192.0.2.2", "192.0.2.3"].map { try open(from: $0) }
        // When four are to be closed
        closeIdle(4)
        // Then the oldest four of the first are
        XCTAssertEqual(greedy.map(\.isActive), [false, false, false, false] + [Bool](repeating: true, count: 6))
        XCTAssertEqual(others.map(\.isActive), [true, true])
        XCTAssertEqual(connections.count, 8)
        XCTAssertEqual(connections.refused[.idle], 4)
    }

    func testThatAnAddressKeepsAnEqualShare() throws {
        // Given three addresses with two, four and six connections
        let counts = [2, 4, 6]
        let opened = try counts.enumerated().map { index, count in
            try (0..<count).map { _ in try open(from: "192.0.2.\(index + 1)") }
        }
        // When all are to be closed
        closeIdle(100)
        // Then each keeps what four addresses would have of the twelve
        XCTAssertEqual(opened.map { $0.count(where: \.isActive) }, [2, 3, 3])
    }

    func testThatAConnectionEndsOnceAfterItsResponses() throws {
        // Given an address with six connections, of which the oldest does not end at once
        let slow = try open(from: "192.0.2.1", endsAtOnce: false)
        let others = try (0..<5).map { _ in try open(from: "192.0.2.1") }
        // When one is to be closed, twice
        let now = NIODeadline.now()
        closeIdle(1, at: now)
        closeIdle(1, at: now + .seconds(1))
        // Then the oldest is asked to end, and then the next one
        XCTAssertTrue(slow.isActive)
        XCTAssertEqual(others.map(\.isActive), [false, true, true, true, true])
        XCTAssertEqual(connections.refused[.idle], 2)
    }

    func testThatAConnectionThatIsNotReadyEndsAtOnce() throws {
        // Given connections in their TLS handshakes, and connections after them
        connections = Self.connections(isEncrypted: true)
        let opened = try (0..<6).map { _ in try open(from: "192.0.2.1", endsAtOnce: false, isReady: false) }
        for channel in opened[..<2] { connections.client(of: channel)?.noteReady() }
        // When some are to be closed
        closeIdle(3)
        // Then one that is still in its handshake is closed at once
        XCTAssertEqual(opened.map(\.isActive), [true, true, false, true, true, true])
    }

    func testThatConnectionsOfProxiesStayAndDoNotCount() throws {
        // Given many connections of a trusted proxy, and an address with ten
        let proxied = try (0..<50).map { _ in try open(from: "127.0.0.1") }
        let greedy = try (0..<10).map { _ in try open(from: "192.0.2.1") }
        // When all are to be closed
        closeIdle(100)
        // Then the address keeps a half of its own
        XCTAssertEqual(greedy.count(where: \.isActive), 5)
        XCTAssertEqual(proxied.count(where: \.isActive), 50)
    }

    func testThatASearchWaitsForAQuarterOfASecond() throws {
        let opened = try (0..<10).map { _ in try open(from: "192.0.2.1") }
        let now = NIODeadline.now()
        for (moment, left) in [(0, 9), (249, 9), (250, 8)] {
            closeIdle(1, at: now + .milliseconds(Int64(moment)))
            XCTAssertEqual(opened.count(where: \.isActive), left)
        }
    }

    private func closeIdle(_ count: Int, at now: NIODeadline = .now()) {
        connections.closeIdle(count, at: now)
        for channel in channels { channel.embeddedEventLoop.run() }
    }

    private static func connections(isEncrypted: Bool = false) -> OpenConnections {
        let budget = MemoryBudget(limit: 1 << 20)
        return OpenConnections(
            ClientsConfiguration(), memory: ResponseMemory(limit: 1 << 20), waiting: .waitingRequests(of: budget), of: budget,
            isEncrypted: isEncrypted)
    }

    private func open(from address: String, endsAtOnce: Bool = true, isReady: Bool = true) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        if endsAtOnce { try channel.pipeline.syncOperations.addHandler(Quiescing()) }
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        XCTAssertTrue(connections.admit(channel))
        if isReady { connections.client(of: channel)?.noteReady() }
        channels.append(channel)
        addTeardownBlock { _ = try? channel.finish() }
        return channel
    }

    /// Closes its channel when it is asked to end.
    private final class Quiescing: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
        }
    }
}

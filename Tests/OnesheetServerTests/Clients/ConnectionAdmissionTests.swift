import Foundation
import HummingbirdCore
import NIOCore
import NIOEmbedded
import OnesheetCore
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

/// What the server does with the connections that it has accepted, before it sets them up.
final class ConnectionAdmissionTests: XCTestCase {
    private let budget = MemoryBudget(limit: 1)
    private let limit = AcceptLimit(connections: 200, places: nil)
    private let server = EmbeddedChannel()
    private let reads = Reads()
    private let spare = SpareDescriptor {}
    private let admitted = Admitted()

    func testThatAnAddressLeavesRoomForOthersAndGetsMoreWhenItClosesOne() throws {
        // Given 64 places for connections with TLS
        let connections = try serve(ClientsConfiguration(), isEncrypted: true)
        XCTAssertEqual(connections.most, 64)
        // When an address opens many connections
        let greedy = try (0..<100).map { _ in try accept(from: "192.0.2.1") }
        // Then half of the places are taken, and the other connections are closed and do not count
        XCTAssertEqual(greedy.map(\.isActive), [Bool](repeating: true, count: 32) + [Bool](repeating: false, count: 68))
        XCTAssertEqual(admitted.count, 32)
        XCTAssertEqual(connections.count, 32)
        XCTAssertEqual(connections.refused[.memory], 68)
        // And others are admitted
        XCTAssertTrue(try accept(from: "192.0.2.2").isActive)
        // When two are closed, then there are places for two more
        for channel in greedy.prefix(2) { try close(channel) }
        XCTAssertEqual(try (0..<3).map { _ in try accept(from: "192.0.2.1").isActive }, [true, true, false])
    }

    func testThatPlacesAndMemoryAreFreeAgainWhenAllAreClosed() throws {
        let connections = try serve(ClientsConfiguration(), isEncrypted: true)
        // Given connections from many addresses, which take all places
        let open = try (1...64).map { try accept(from: "192.0.2.\($0)") }
        XCTAssertEqual(admitted.count, 64)
        XCTAssertGreaterThan(budget.reserved, 0)
        XCTAssertFalse(try accept(from: "192.0.2.65").isActive)
        // When they are closed, then nothing is left of them
        for channel in open { try close(channel) }
        XCTAssertEqual(connections.count, 0)
        XCTAssertEqual(budget.reserved, 0)
        XCTAssertTrue(try accept(from: "192.0.2.65").isActive)
    }

    func testThatAConnectionWithoutMemoryDoesNotCountForItsAddress() throws {
        // Given an address that may have two connections, and no place for it
        var clients = ClientsConfiguration()
        clients.perAddress.connections = 2
        let connections = try serve(clients, isEncrypted: true)
        let open = try (1...64).map { try accept(from: "192.0.2.\($0)") }
        for _ in 0..<5 { XCTAssertFalse(try accept(from: "192.0.2.99").isActive) }
        XCTAssertNil(connections.refused[.connections])
        // When there are places again, then it has two
        for channel in open.prefix(10) { try close(channel) }
        XCTAssertEqual(try (0..<3).map { _ in try accept(from: "192.0.2.99").isActive }, [true, true, false])
        XCTAssertEqual(connections.refused[.connections], 1)
    }

    func testThatMemoryDoesNotLimitConnectionsWithoutTLS() throws {
        let connections = try serve(ClientsConfiguration(), isEncrypted: false)
        XCTAssertNil(connections.most)
        for _ in 0..<200 { XCTAssertTrue(try accept(from: "192.0.2.1").isActive) }
        XCTAssertEqual(connections.count, 200)
    }

    func testThatNothingIsAdmittedAfterTheEnd() throws {
        let connections = try serve(ClientsConfiguration(), isEncrypted: false)
        connections.close()
        XCTAssertFalse(try accept(from: "192.0.2.1").isActive)
        XCTAssertEqual(admitted.count, 0)
        XCTAssertEqual(connections.count, 0)
    }

    func testThatNothingIsReadBeforeConnectionsCanBeRefused() throws {
        // Given a server's channel with Hummingbird's handler
        try server.pipeline.syncOperations.addHandlers([reads, AvailableConnectionsChannelHandler(delegate: limit)])
        server.read()
        XCTAssertEqual(reads.count, 0)
        // When the handler that refuses connections is there, then it reads
        let connections = OpenConnections(
            ClientsConfiguration(), memory: ResponseMemory(limit: 1 << 20), waiting: .waitingRequests(of: budget), of: budget,
            isEncrypted: true)
        try server.pipeline.syncOperations.addHandler(ConnectionAdmission(limit, connections, spare), position: .first)
        server.read()
        XCTAssertEqual(reads.count, 1)
    }

    func testConnectionsAreAcceptedWhileOthersWaitForATask() throws {
        // Given a channel whose last handler asks for no more connections, as one does while ten wait
        _ = try serve(ClientsConfiguration(), isEncrypted: false)
        XCTAssertEqual(reads.count, 0)
        // When all that were read are admitted, then the next ones are read
        server.pipeline.syncOperations.fireChannelReadComplete()
        XCTAssertEqual(reads.count, 1)
        // And not without room
        for _ in 0..<200 { limit.connectionOpened() }
        server.pipeline.syncOperations.fireChannelReadComplete()
        XCTAssertEqual(reads.count, 1)
        // Nor without a descriptor
        for _ in 0..<200 { limit.connectionClosed() }
        server.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
        server.pipeline.syncOperations.fireChannelReadComplete()
        XCTAssertEqual(reads.count, 1)
    }

    func testThatOnlyAdmittedConnectionsCountForTheLimit() throws {
        _ = try serve(ClientsConfiguration(), isEncrypted: true)
        let greedy = try (0..<100).map { _ in try accept(from: "192.0.2.1") }
        XCTAssertEqual(limit.room, 200 - 32)
        for channel in greedy.prefix(32) { try close(channel) }
        XCTAssertEqual(limit.room, 200)
    }

    private func serve(_ clients: ClientsConfiguration, isEncrypted: Bool) throws -> OpenConnections {
        let connections = OpenConnections(
            clients, memory: ResponseMemory(limit: 1 << 20), waiting: .waitingRequests(of: budget), of: budget,
            isEncrypted: isEncrypted)
        try server.pipeline.syncOperations.addHandlers(
            [
                reads, spare, ConnectionAdmission(limit, connections, spare), AvailableConnectionsChannelHandler(delegate: limit),
                admitted,
            ])
        addTeardownBlock { [self] in _ = try? server.finish() }
        return connections
    }

    private func accept(from address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        addTeardownBlock { _ = try? channel.finish() }
        server.pipeline.syncOperations.fireChannelRead(NIOAny(channel as any Channel))
        channel.embeddedEventLoop.run()
        server.embeddedEventLoop.run()
        return channel
    }

    private func close(_ channel: EmbeddedChannel) throws {
        try channel.close().wait()
        channel.embeddedEventLoop.run()
        server.embeddedEventLoop.run()
    }

    /// Counts reads.
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = Never
        var count = 0
        func read(context: ChannelHandlerContext) { count += 1 }
    }

    /// Counts the connections that reach the handlers behind.
    private final class Admitted: ChannelInboundHandler {
        typealias InboundIn = any Channel
        var count = 0
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { count += 1 }
    }
}

import NIOCore
import OnesheetCore
import Synchronization

/// One engine: a connection that all calls share, others for calls that block, and a circuit breaker for all of them.
final class ValkeyNode: Sendable {
    private struct State {
        var connection: EventLoopFuture<ValkeyConnection>?
        /// Connections without a call, for calls that block.
        var idle: [ValkeyConnection] = []
        var breaker = CallBreaker(failures: ValkeyNode.failures, pause: ValkeyNode.pause)
        var isClosed = false
    }

    /// Connections that wait for the next blocking call.
    private static let idleConnections = 4

    /// Failures in a row that stop calls for `pause`.
    static let failures = 5
    static let pause = Duration.seconds(2)

    let address: ValkeyAddress
    private let settings: ConnectionSettings
    private let state = Mutex(State())

    init(_ address: ValkeyAddress, _ settings: ConnectionSettings) {
        self.address = address
        self.settings = settings
    }

    /// Sends commands on the shared connection.
    /// - Parameter limit: the time for the replies, without that for connecting.
    func call(_ commands: [ValkeyCommand], within limit: TimeAmount) async throws(LinkFailure) -> [RESPValue] {
        try await watched { () async throws(LinkFailure) in
            try await shared().send(commands, within: limit).replies()
        }
    }

    /// Sends commands that may block on a connection of their own. Closes it if the task is cancelled.
    func callAside(_ commands: [ValkeyCommand], within limit: TimeAmount) async throws(LinkFailure) -> [RESPValue] {
        try await watched { () async throws(LinkFailure) in
            let connection = try await aside()
            let result = await withTaskCancellationHandler {
                await connection.send(commands, within: limit).result()
            } onCancel: {
                connection.close()
            }
            if case .success = result { keep(connection) } else { connection.close() }
            if Task.isCancelled { throw .cancelled }
            return try result.get()
        }
    }

    /// Closes all connections. Calls fail from now on.
    func close() {
        let (connection, idle) = state.withLock { state in
            state.isClosed = true
            defer { (state.connection, state.idle) = (nil, []) }
            return (state.connection, state.idle)
        }
        connection?.whenSuccess { $0.close() }
        for connection in idle { connection.close() }
    }

    private func watched(
        _ work: () async throws(LinkFailure) -> [RESPValue]
    ) async throws(LinkFailure) -> [RESPValue] {
        let isAllowed = state.withLock { $0.breaker.allows(at: .now) }
        guard isAllowed else { throw .unreachable("\(address) did not answer several times, and is left alone for a moment") }
        do throws(LinkFailure) {
            let replies = try await work()
            state.withLock { $0.breaker.succeeded() }
            return replies
        } catch {
            let connection = state.withLock { state in
                // An abandoned call says nothing about the engine.
                guard error != .cancelled else {
                    state.breaker.abandoned()
                    return nil as EventLoopFuture<ValkeyConnection>?
                }
                guard state.breaker.failed(at: .now) else { return nil }
                defer { state.connection = nil }
                return state.connection
            }
            // A connection that hangs is not reused; the next call connects again.
            connection?.whenSuccess { $0.close() }
            throw error
        }
    }

    private func shared() async throws(LinkFailure) -> ValkeyConnection {
        let future = state.withLock { state -> EventLoopFuture<ValkeyConnection>? in
            if state.isClosed { return nil }
            if let connection = state.connection { return connection }
            let connection = ValkeyConnection.open(to: address, settings)
            state.connection = connection
            return connection
        }
        guard let future else { throw .unreachable("this server is shutting down") }
        let result = await future.result()
        if case .success(let connection) = result, connection.isOpen { return connection }
        state.withLock { if $0.connection === future { $0.connection = nil } }
        // A connection that ended since the last call is no failure: the engine may have closed it as idle.
        if case .success = result { return try await fresh() }
        return try result.get()
    }

    private func fresh() async throws(LinkFailure) -> ValkeyConnection {
        let future = state.withLock { state -> EventLoopFuture<ValkeyConnection>? in
            if state.isClosed { return nil }
            if state.connection == nil { state.connection = ValkeyConnection.open(to: address, settings) }
            return state.connection
        }
        guard let future else { throw .unreachable("this server is shutting down") }
        return try await future.result().get()
    }

    private func aside() async throws(LinkFailure) -> ValkeyConnection {
        let (idle, isClosed) = state.withLock { state -> (ValkeyConnection?, Bool) in
            while let connection = state.idle.popLast() {
                if connection.isOpen { return (connection, state.isClosed) }
            }
            return (nil, state.isClosed)
        }
        if let idle { return idle }
        guard !isClosed else { throw .unreachable("this server is shutting down") }
        return try await ValkeyConnection.open(to: address, settings).result().get()
    }

    private func keep(_ connection: ValkeyConnection) {
        let isKept = state.withLock { state in
            guard connection.isOpen, !state.isClosed, state.idle.count < Self.idleConnections else { return false }
            state.idle.append(connection)
            return true
        }
        if !isKept { connection.close() }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// The outcome of a future that fails only with a `LinkFailure`.
    fileprivate func result() async -> Result<Value, LinkFailure> {
        do {
            return .success(try await get())
        } catch {
            return .failure(error as? LinkFailure ?? .unreachable("\(error)"))
        }
    }
}

extension EventLoopFuture<[RESPValue]> {
    fileprivate func replies() async throws(LinkFailure) -> [RESPValue] { try await result().get() }
}

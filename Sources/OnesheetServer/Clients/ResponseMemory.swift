import NIOCore
import OnesheetPipeline
import Synchronization

/// Accounts for the memory of response bodies in flight. A body shared by several clients counts once.
///
/// A long body needs room before it is sent. A body in the memory tier is always admitted, but still counts, because the tier may
/// evict it while clients hold it. When there is no room, the clients that have made no progress for the longest time are
/// disconnected.
///
/// An address may have as much as is still free, so a few addresses cannot take all the room (dynamic thresholds; Choudhury and Hahne,
/// 1998), and a quarter more is kept for addresses that have none.
final class ResponseMemory: Sendable {
    /// Bodies up to this size, in bytes, may exceed the limit by a quarter.
    static let small = 64 << 10
    /// How long a client may make no progress while others need the room.
    static let stallTimeout = TimeAmount.seconds(2)

    /// In bytes.
    let limit: Int
    private let budget: MemoryBudget?
    private let state = Mutex(State())
    private let dropped = Atomic(0)

    private struct Body {
        var holders = 1
        let bytes: Int
        /// The address that the body counts for: the first that it was admitted for.
        let owner: ClientAddress?
        /// The body's share of the memory budget that originals and pixels also use.
        let room: MemoryReservation?
    }

    private struct State {
        var bytes = 0
        var bodies: [ObjectIdentifier: Body] = [:]
        /// The bytes of bodies with an owner.
        var byOwner: [ClientAddress: Int] = [:]
        var receivers: [ObjectIdentifier: BodyReceiver] = [:]
        /// The time of the last search for slow clients.
        var lastSearch: NIODeadline?

        /// The most bytes of all bodies with which `owner` may have `bytes` more.
        func bound(for owner: ClientAddress?, bytes: Int, limit: Int) -> Int {
            guard let owner else { return limit }
            guard let own = byOwner[owner] else { return limit + limit / 4 }
            return own + bytes < limit - self.bytes ? limit : 0
        }
    }

    /// - Parameter budget: the budget that this memory counts against.
    init(limit: Int, of budget: MemoryBudget? = nil) { (self.limit, self.budget) = (limit, budget) }

    /// Bytes of bodies in flight.
    var held: Int { state.withLock { $0.bytes } }
    /// The number of clients disconnected to make room.
    var droppedClients: Int { dropped.load(ordering: .relaxed) }

    /// Reserves room for `body` until the result is released.
    /// - Parameters:
    ///   - isInTier: whether the memory tier holds the body.
    ///   - owner: the address that the body counts for; `nil` if it is unknown, and then only the limit of all applies.
    /// - Returns: `nil` if there is no room.
    func admit(_ body: ByteBuffer, isInTier: Bool, for owner: ClientAddress? = nil) -> BodyHold? {
        let isSmall = body.readableBytes <= Self.small
        let hasRoom =
            isInTier
            ? count(body, for: nil, counts: false) { _, _ in .max }
            : count(body, for: owner, counts: true) { [limit] state, bytes in
                isSmall ? limit + limit / 4 : state.bound(for: owner, bytes: bytes, limit: limit)
            }
        let excess = held + (hasRoom ? 0 : body.readableBytes) - limit
        if excess > 0 { drop(excess) }
        return hasRoom ? BodyHold(body, in: self) : nil
    }

    /// - Parameter owner: as in `admit`.
    /// - Returns: whether there is room for a long body. If all room is taken, slow clients are disconnected.
    @discardableResult
    func makeRoom(for owner: ClientAddress? = nil) -> Bool {
        let (held, bound) = state.withLock { ($0.bytes, $0.bound(for: owner, bytes: 0, limit: limit)) }
        if held >= limit { drop(held - limit + 1) }
        return held < bound
    }

    /// Counts a body that is already being written and cannot be refused.
    func hold(_ body: ByteBuffer) -> BodyHold {
        count(body, for: nil, counts: true) { _, _ in .max }
        return BodyHold(body, in: self)
    }

    /// Counts `body` until `release`.
    /// - Parameter bound: the most bytes of all bodies with this one, whose bytes are the second argument.
    /// - Returns: `false` if there is no room.
    @discardableResult
    private func count(_ body: ByteBuffer, for owner: ClientAddress?, counts: Bool, upTo bound: (State, Int) -> Int) -> Bool {
        let id = body.storageID
        // A slice keeps its whole storage alive.
        let bytes = max(body.readableBytes, body.storageCapacity)
        return state.withLock { state in
            if state.bodies[id]?.holders != nil {
                state.bodies[id]?.holders += 1
                return true
            }
            // A single body is always allowed.
            guard state.bytes == 0 || bytes <= bound(state, bytes) - state.bytes else { return false }
            state.bytes += bytes
            if let owner { state.byOwner[owner, default: 0] += bytes }
            state.bodies[id] = Body(bytes: bytes, owner: owner, room: counts ? budget?.charge(bytes) : nil)
            return true
        }
    }

    fileprivate func release(_ id: ObjectIdentifier) {
        // Release the budget's share outside the lock.
        let gone: Body? = state.withLock { state in
            guard var body = state.bodies[id] else { return nil }
            body.holders -= 1
            guard body.holders == 0 else {
                state.bodies[id] = body
                return nil
            }
            state.bodies[id] = nil
            state.bytes -= body.bytes
            if let owner = body.owner, let bytes = state.byOwner[owner] {
                state.byOwner[owner] = bytes > body.bytes ? bytes - body.bytes : nil
            }
            return body
        }
        withExtendedLifetime(gone) {}
    }

    fileprivate func add(_ receiver: BodyReceiver) { state.withLock { $0.receivers[ObjectIdentifier(receiver)] = receiver } }
    fileprivate func remove(_ receiver: BodyReceiver) {
        state.withLock { _ = $0.receivers.removeValue(forKey: ObjectIdentifier(receiver)) }
    }

    /// Disconnects stalled clients, slowest first, until `bytes` more bytes are free.
    func drop(_ bytes: Int, at now: NIODeadline = .now()) {
        // The search covers all clients, so its rate is limited.
        let receivers = state.withLock { state in
            if let last = state.lastSearch, now - last < .milliseconds(100) { return [BodyReceiver]() }
            state.lastSearch = now
            return Array(state.receivers.values)
        }
        let slow =
            receivers.map { (receiver: $0, since: $0.waitingSince) }.filter { now - $0.since >= Self.stallTimeout }
            .sorted { $0.since < $1.since }
        var rest = bytes
        for (receiver, _) in slow where rest > 0 {
            rest -= receiver.bytes
            dropped.add(1, ordering: .relaxed)
            receiver.close()
        }
    }
}

/// A reservation for a body. Releasing the last reference ends it.
final class BodyHold: Sendable {
    /// Keeps the storage allocated, so its identity stays unique.
    private let body: ByteBuffer
    private let memory: ResponseMemory

    fileprivate init(_ body: ByteBuffer, in memory: ResponseMemory) { (self.body, self.memory) = (body, memory) }

    deinit { memory.release(body.storageID) }
}

/// A connection, an HTTP/2 stream, or the streams that the fast path answers, that receive bodies.
final class BodyReceiver: Sendable {
    private let memory: ResponseMemory
    private let state: Mutex<(pieces: Int, bytes: Int, since: NIODeadline)>
    /// Ends the bodies in flight. Called on any thread, also after they have been sent.
    let close: @Sendable () -> Void

    init(_ memory: ResponseMemory, close: @escaping @Sendable () -> Void) {
        (self.memory, self.close) = (memory, close)
        state = Mutex((0, 0, .now()))
    }

    convenience init(_ channel: any Channel, _ memory: ResponseMemory) {
        self.init(memory) { channel.close(promise: nil) }
    }

    /// The time since which the client has made no progress.
    var waitingSince: NIODeadline { state.withLock { $0.since } }
    /// The size of the largest body in flight, in bytes.
    var bytes: Int { state.withLock { $0.bytes } }
    /// Whether the client has taken everything.
    var isEmpty: Bool { state.withLock { $0.pieces == 0 } }

    /// Counts a written piece of a body of `bytes` bytes.
    func wrote(_ bytes: Int) {
        let isFirst = state.withLock { state in
            if state.pieces == 0 { state.since = .now() }
            state.pieces += 1
            state.bytes = max(state.bytes, bytes)
            return state.pieces == 1
        }
        if isFirst { memory.add(self) }
    }

    /// Counts a piece as taken, or as failed.
    func took() {
        let isLast = state.withLock { state in
            state.since = .now()
            state.pieces -= 1
            if state.pieces == 0 { state.bytes = 0 }
            return state.pieces == 0
        }
        if isLast { memory.remove(self) }
    }
}

extension ByteBuffer {
    /// Identifies the storage that all slices share.
    fileprivate var storageID: ObjectIdentifier {
        withVeryUnsafeBytesWithStorageManagement { _, storage in ObjectIdentifier(storage.takeUnretainedValue()) }
    }
}

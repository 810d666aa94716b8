import NIOCore
import OnesheetCore
import Synchronization

/// Accounts for the memory of response bodies in flight. A body shared by several clients counts once.
///
/// A long body needs room before it is sent. A body in the memory tier is always admitted, but still counts, because the tier may
/// evict it while clients hold it. When there is no room, clients that make no progress are disconnected, those of the addresses with the
/// most first.
///
/// An address may have as much as is still free, so a few addresses cannot take all the room (dynamic thresholds; Choudhury and Hahne,
/// 1998), and half as much again is kept for addresses that have none.
final class ResponseMemory: Sendable {
    /// Bodies up to this size, in bytes, may exceed the limit by a quarter (those of new addresses by half, see `bound`).
    static let small = 64 << 10
    /// How long a client may make no progress while others need the room, unless a test says otherwise.
    static let stallTimeout = TimeAmount.seconds(2)

    /// In bytes.
    let limit: Int
    private let budget: MemoryBudget?
    private let identity: ClientIdentity?
    private let stallTimeout: TimeAmount
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
            guard let own = byOwner[owner] else { return limit + limit / 2 }
            return own + bytes < limit - self.bytes ? limit : 0
        }
    }

    /// - Parameters:
    ///   - budget: the budget that this memory counts against.
    ///   - identity: determines the addresses of connections; without it, none is known.
    ///   - stallTimeout: how long a client may make no progress while others need the room.
    init(
        limit: Int, of budget: MemoryBudget? = nil, identity: ClientIdentity? = nil,
        stallTimeout: TimeAmount = ResponseMemory.stallTimeout
    ) {
        self.limit = limit
        self.budget = budget
        self.identity = identity
        self.stallTimeout = stallTimeout
    }

    /// Bytes of bodies in flight.
    var held: Int { state.withLock { $0.bytes } }
    /// The number of clients disconnected to make room.
    var droppedClients: Int { dropped.load(ordering: .relaxed) }

    /// The address that `channel` counts for.
    func owner(of channel: any Channel) -> ClientAddress? {
        identity?.owner(ofConnectionFrom: channel.remoteAddress?.address)
    }

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
                max(isSmall ? limit + limit / 4 : 0, state.bound(for: owner, bytes: bytes, limit: limit))
            }
        let excess = held + (hasRoom ? 0 : body.readableBytes) - limit
        if excess > 0 { drop(excess) }
        return hasRoom ? BodyHold(body, in: self) : nil
    }

    /// - Parameter owner: as in `admit`.
    /// - Returns: whether a long body may begin. An address without responses may always begin one. If all room is taken, clients that make
    ///   no progress are disconnected.
    @discardableResult
    func makeRoom(for owner: ClientAddress? = nil) -> Bool {
        let (held, bound, isNew) = state.withLock { state in
            (state.bytes, state.bound(for: owner, bytes: 0, limit: limit), owner.map { state.byOwner[$0] == nil } ?? false)
        }
        if held >= limit { drop(held - limit + 1) }
        return isNew || held < bound
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

    func add(_ receiver: BodyReceiver) { state.withLock { $0.receivers[ObjectIdentifier(receiver)] = receiver } }
    func remove(_ receiver: BodyReceiver) {
        state.withLock { _ = $0.receivers.removeValue(forKey: ObjectIdentifier(receiver)) }
    }

    /// Disconnects stalled clients until `bytes` more bytes are free: those of the addresses with the most first, and of these the slowest.
    ///
    /// A body stays until its last client is gone, so its stalled clients are disconnected together.
    func drop(_ bytes: Int, at now: NIODeadline = .now()) {
        // The search covers all clients, so its rate is limited.
        let receivers = state.withLock { state in
            if let last = state.lastSearch, now - last < .milliseconds(100) { return [BodyReceiver]() }
            state.lastSearch = now
            return Array(state.receivers.values)
        }
        let all = receivers.map { (receiver: $0, owner: $0.owner(), progress: $0.progress) }
        var byOwner: [ClientAddress: Int] = [:]
        for (_, owner, progress) in all { if let owner { byOwner[owner, default: 0] += progress.bytes } }
        let stalled = all.filter { now - $0.progress.since >= stallTimeout }
        let bodies = Dictionary(grouping: stalled) { $0.progress.body ?? ObjectIdentifier($0.receiver) }.values.map { clients in
            StalledBody(
                bytes: clients.map(\.progress.bytes).max() ?? 0,
                // Clients of unknown addresses, such as behind a proxy, go after the others, the slowest first.
                most: clients.compactMap { $0.owner.flatMap { byOwner[$0] } }.max() ?? 0,
                since: clients.map(\.progress.since).min() ?? now, receivers: clients.map(\.receiver))
        }
        var rest = bytes
        for body in bodies.sorted(by: { ($1.most, $0.since) < ($0.most, $1.since) }) where rest > 0 {
            rest -= body.bytes
            for receiver in body.receivers {
                dropped.add(1, ordering: .relaxed)
                receiver.close()
            }
        }
    }

    /// A body whose clients make no progress.
    private struct StalledBody {
        let bytes: Int
        /// The most bytes in flight of the address of one of its clients.
        let most: Int
        /// When the slowest made progress.
        let since: NIODeadline
        let receivers: [BodyReceiver]
    }
}

/// A reservation for a body. Releasing the last reference ends it.
final class BodyHold: Sendable {
    /// Keeps the storage allocated, so its identity stays unique.
    private let body: ByteBuffer
    private let memory: ResponseMemory

    fileprivate init(_ body: ByteBuffer, in memory: ResponseMemory) {
        self.body = body
        self.memory = memory
    }

    deinit { memory.release(body.storageID) }
}

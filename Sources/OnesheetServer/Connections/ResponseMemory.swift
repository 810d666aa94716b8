import NIOCore
import OnesheetPipeline
import Synchronization

/// The memory of bodies that clients are being sent. A body that several of them are sent counts once.
///
/// A long body needs room before it is sent. One that the memory tier has needs none, as it is there anyway; but the tier may let go of
/// it meanwhile, so it is counted too. If there is no room, clients that take nothing are let go of, the slowest first.
final class ResponseMemory: Sendable {
    /// Bodies up to this length in bytes may take a quarter more than there is.
    static let small = 64 << 10
    /// How long a client may take nothing if others need the room.
    static let patience = TimeAmount.seconds(2)

    /// In bytes.
    let limit: Int
    private let budget: MemoryBudget?
    private let state = Mutex(State())
    private let dropped = Atomic(0)
    private let refused = Atomic(0)

    private struct Body {
        var holders = 1
        let bytes: Int
        /// Room in the budget that originals and pixels have, too.
        let room: MemoryReservation?
    }

    private struct State {
        var bytes = 0
        var bodies: [ObjectIdentifier: Body] = [:]
        var receivers: [ObjectIdentifier: BodyReceiver] = [:]
        /// When slow ones were looked for.
        var looked: NIODeadline?
    }

    /// - Parameter budget: of which this is a part.
    init(limit: Int, of budget: MemoryBudget? = nil) { (self.limit, self.budget) = (limit, budget) }

    /// Bytes of bodies that are held now.
    var held: Int { state.withLock { $0.bytes } }
    /// How many clients were let go of to make room.
    var droppedClients: Int { dropped.load(ordering: .relaxed) }
    /// How many answers had no room.
    var refusedAnswers: Int { refused.load(ordering: .relaxed) }

    /// Holds `body` until the result is gone.
    /// - Parameter isInTier: whether the memory tier has it.
    /// - Returns: `nil` if there is no room.
    func admit(_ body: ByteBuffer, isInTier: Bool) -> BodyHold? {
        let isSmall = body.readableBytes <= Self.small
        let hold = hold(body, upTo: isInTier ? .max : isSmall ? limit + limit / 4 : limit, counts: !isInTier)
        let excess = held + (hold == nil ? body.readableBytes : 0) - limit
        if excess > 0 { drop(excess) }
        if hold == nil { refused.add(1, ordering: .relaxed) }
        return hold
    }

    /// - Returns: whether there is room for any long body. If not, slow clients are let go of.
    func makeRoom() -> Bool {
        let excess = held - limit
        if excess >= 0 { drop(excess + 1) }
        return excess < 0
    }

    /// Holds what is being written and cannot be refused any more.
    func hold(_ body: ByteBuffer) -> BodyHold? { hold(body, upTo: .max, counts: true) }

    private func hold(_ body: ByteBuffer, upTo limit: Int, counts: Bool) -> BodyHold? {
        let id = body.storageID
        // A part of a body keeps all of it.
        let bytes = max(body.readableBytes, body.storageCapacity)
        let hasRoom = state.withLock { state in
            if state.bodies[id]?.holders != nil {
                state.bodies[id]?.holders += 1
                return true
            }
            // One body is always possible.
            guard bytes <= limit - state.bytes || state.bytes == 0 else { return false }
            state.bytes += bytes
            state.bodies[id] = Body(bytes: bytes, room: counts ? budget?.charge(bytes) : nil)
            return true
        }
        return hasRoom ? BodyHold(body, in: self) : nil
    }

    fileprivate func letGo(of id: ObjectIdentifier) {
        // Its room goes back outside the lock.
        let gone: Body? = state.withLock { state in
            guard var body = state.bodies[id] else { return nil }
            body.holders -= 1
            guard body.holders == 0 else {
                state.bodies[id] = body
                return nil
            }
            state.bodies[id] = nil
            state.bytes -= body.bytes
            return body
        }
        withExtendedLifetime(gone) {}
    }

    fileprivate func add(_ receiver: BodyReceiver) { state.withLock { $0.receivers[ObjectIdentifier(receiver)] = receiver } }
    fileprivate func remove(_ receiver: BodyReceiver) {
        state.withLock { _ = $0.receivers.removeValue(forKey: ObjectIdentifier(receiver)) }
    }

    /// Lets go of clients that take nothing, until `bytes` bytes more are free.
    func drop(_ bytes: Int, at now: NIODeadline = .now()) {
        // All are looked at, so not more often than needed.
        let receivers = state.withLock { state in
            if let last = state.looked, now - last < .milliseconds(100) { return [BodyReceiver]() }
            state.looked = now
            return Array(state.receivers.values)
        }
        let slow =
            receivers.map { (receiver: $0, since: $0.waitingSince) }.filter { now - $0.since >= Self.patience }
            .sorted { $0.since < $1.since }
        var rest = bytes
        for (receiver, _) in slow where rest > 0 {
            rest -= receiver.bytes
            dropped.add(1, ordering: .relaxed)
            receiver.close()
        }
    }
}

/// A body that is held. It is let go of with the last reference.
final class BodyHold: Sendable {
    /// Keeps the bytes where they are, so that the identity is nobody else's.
    private let body: ByteBuffer
    private let memory: ResponseMemory

    fileprivate init(_ body: ByteBuffer, in memory: ResponseMemory) { (self.body, self.memory) = (body, memory) }

    deinit { memory.letGo(of: body.storageID) }
}

/// A connection, or a stream of HTTP/2, that is being sent bodies.
final class BodyReceiver: Sendable {
    private let channel: any Channel
    private let memory: ResponseMemory
    private let state: Mutex<(pieces: Int, bytes: Int, since: NIODeadline)>

    init(_ channel: any Channel, _ memory: ResponseMemory) {
        (self.channel, self.memory) = (channel, memory)
        state = Mutex((0, 0, .now()))
    }

    /// Since when nothing was taken of what was written.
    var waitingSince: NIODeadline { state.withLock { $0.since } }
    /// Bytes of the longest body of which something was written and not taken.
    var bytes: Int { state.withLock { $0.bytes } }
    /// Whether the client has taken everything.
    var isEmpty: Bool { state.withLock { $0.pieces == 0 } }

    /// Something is written that holds a body of `bytes` bytes.
    func wrote(_ bytes: Int) {
        let isFirst = state.withLock { state in
            if state.pieces == 0 { state.since = .now() }
            state.pieces += 1
            state.bytes = max(state.bytes, bytes)
            return state.pieces == 1
        }
        if isFirst { memory.add(self) }
    }

    /// Something that was written is taken, or never will be.
    func took() {
        let isLast = state.withLock { state in
            state.since = .now()
            state.pieces -= 1
            if state.pieces == 0 { state.bytes = 0 }
            return state.pieces == 0
        }
        if isLast { memory.remove(self) }
    }

    func close() { channel.close(promise: nil) }
}

extension ByteBuffer {
    /// The same for all slices of one storage.
    fileprivate var storageID: ObjectIdentifier {
        withVeryUnsafeBytesWithStorageManagement { _, storage in ObjectIdentifier(storage.takeUnretainedValue()) }
    }
}

import Synchronization

/// A limit for the bytes that originals and pixels in memory may occupy together.
///
/// Of a fair budget, a client may reserve as much as is still free, so that one client does not take all (dynamic thresholds; Choudhury and
/// Hahne, 1998). Its first reservation may be as large as there is room for.
///
/// Small reservations have a sixteenth of it to themselves: a few large pictures do not keep small ones out. Large ones also leave an eighth
/// to what cannot be refused, such as connections and responses. If that takes more, and the sixteenth too, small reservations exceed the
/// limit by it.
package final class MemoryBudget: Sendable {
    package let limit: Int
    private let standing: Int
    private let whole: MemoryBudget?
    private let isFair: Bool
    private let state = Mutex(State())

    private struct State {
        var used = 0
        /// The bytes of small reservations.
        var small = 0
        /// The bytes of what cannot be refused.
        var charged = 0
        /// The bytes of what yields to reservations of nearly the whole limit.
        var yielding = 0
        /// The bytes of each client that is known.
        var held: [ClientKey: Int] = [:]
        /// The most bytes that were in use when something was reserved.
        var peak = 0
        /// All bytes that were reserved or counted, also those that were released.
        var granted = 0
    }

    /// - Parameters:
    ///   - standing: the bytes that are in use whatever is asked for.
    ///   - whole: the budget that contains this one. Each reservation counts in both.
    ///   - isFair: whether clients share it fairly.
    package init(limit: Int, standing: Int = 0, of whole: MemoryBudget? = nil, isFair: Bool = false) {
        self.isFair = isFair
        self.limit = limit
        self.standing = standing
        self.whole = whole
    }

    /// Bytes reserved at present, without the standing and yielding ones.
    package var reserved: Int { state.withLock { $0.used } }
    /// The most bytes in use after a reservation, since the start.
    package var peak: Int { state.withLock { $0.peak } }
    /// All bytes that were ever reserved or charged: what was read since the start cannot be more.
    package var granted: Int { state.withLock { $0.granted } }
    /// Bytes that `charge(yielding:)` counts at present.
    package var yielding: Int { state.withLock { $0.yielding } }

    /// The bytes of the largest small reservation.
    private var longestSmall: Int { limit / 32 }
    /// The bytes that only small reservations may use.
    private var smallRoom: Int { limit / 16 }
    /// The bytes that only small reservations and what cannot be refused may use. A part has none of its own.
    private var chargedRoom: Int { whole == nil ? limit / 8 : 0 }

    /// Reserves `bytes` until the last reference to the reservation is released; `nil` if there is no room.
    /// - Parameters:
    ///   - client: whom the bytes are for; `nil` if it is unknown. Only a fair budget looks at it.
    ///   - alone: whether it fits in any case if nothing else is reserved. Then only a budget around this one may refuse it, unless it is larger
    ///     than that.
    package func reserve(_ bytes: Int, for client: ClientKey? = nil, alone: Bool = false) -> MemoryReservation? {
        let client = isFair && client != .anonymous ? client : nil
        guard change(0, to: bytes, of: client, alone: alone) else { return nil }
        return MemoryReservation(bytes, of: self, for: client, as: .reserved)
    }

    /// Whether there is room for a reservation of `bytes` at present.
    package func hasRoom(for bytes: Int) -> Bool { state.withLock { hasRoom(for: bytes, insteadOf: 0, $0) } }

    /// Counts bytes that already exist and cannot be refused.
    package func charge(_ bytes: Int) -> MemoryReservation {
        addCharged(bytes)
        return MemoryReservation(bytes, of: self, as: .charged)
    }

    /// Counts bytes of a crowd, such as waiting requests. They leave less room, except for a reservation of nearly the whole limit: if a
    /// crowd waits for that, it must not keep the memory from it.
    package func charge(yielding bytes: Int) -> MemoryReservation {
        addYielding(bytes)
        return MemoryReservation(bytes, of: self, as: .yielding)
    }

    /// Changes a reservation of `old` bytes to one of `new` bytes.
    /// - Returns: `false` if there is no room, which never happens if `new` is less.
    fileprivate func change(_ old: Int, to new: Int, of client: ClientKey?, alone: Bool = false) -> Bool {
        guard update(old, to: new, of: client, always: false, alone: alone) else { return false }
        guard let whole else { return true }
        let always = alone && new > whole.limit - whole.standing
        guard !whole.update(old, to: new, of: nil, always: always, alone: false) else { return true }
        // Less always fits.
        _ = update(new, to: old, of: client, always: false, alone: false)
        return false
    }

    /// Counts `new` bytes as used instead of `old`, in this budget alone, if there is room.
    /// - Parameters:
    ///   - always: whether there is room in any case.
    ///   - alone: whether there is room if nothing is in use.
    private func update(_ old: Int, to new: Int, of client: ClientKey?, always: Bool, alone: Bool) -> Bool {
        state.withLock { state in
            var hasRoom = hasRoom(for: new, insteadOf: old, state)
            if let client, let held = state.held[client], new > old {
                hasRoom = hasRoom && held + new - old <= free(for: new, state)
            }
            guard hasRoom || always || alone && state.used == 0 || new <= old else { return false }
            state.small += smallPart(of: new) - smallPart(of: old)
            state.used += new - old
            state.granted += max(0, new - old)
            state.peak = max(state.peak, state.used)
            if let client {
                let held = state.held[client, default: 0] + new - old
                state.held[client] = held > 0 ? held : nil
            }
            return true
        }
    }

    private func hasRoom(for new: Int, insteadOf old: Int, _ state: State) -> Bool {
        if new - old <= free(for: new, state) { return true }
        return smallPart(of: new) == new && state.small + smallPart(of: new) - smallPart(of: old) <= smallRoom
    }

    /// The free bytes that a reservation of `bytes` may use.
    private func free(for bytes: Int, _ state: State) -> Int {
        let most = limit - standing
        if smallPart(of: bytes) == bytes { return most - state.yielding - state.used }
        let large = most - smallRoom - chargedRoom
        let room = large + min(state.charged, chargedRoom) - state.yielding - state.used
        guard bytes > large - chargedRoom else { return room }
        // What hardly fits beside all that, or never, may take the place of it as far as it needs to, if others use less than an eighth.
        return max(room, min(limit, bytes + chargedRoom) - state.used)
    }

    /// Counts a reservation of `old` bytes as `new` bytes that exist and cannot be refused.
    fileprivate func settle(_ old: Int, to new: Int, of client: ClientKey?) {
        state.withLock { state in
            state.small -= smallPart(of: old)
            state.used += new - old
            state.charged += new
            guard let client else { return }
            let held = state.held[client, default: 0] - old
            state.held[client] = held > 0 ? held : nil
        }
        whole?.settle(old, to: new, of: nil)
    }

    fileprivate func addCharged(_ bytes: Int) {
        state.withLock {
            $0.used += bytes
            $0.granted += max(0, bytes)
            $0.charged += bytes
        }
        whole?.addCharged(bytes)
    }

    fileprivate func addYielding(_ bytes: Int) {
        state.withLock { $0.yielding += bytes }
        whole?.addYielding(bytes)
    }

    /// The bytes of a reservation of `bytes` that count as small: all or none.
    private func smallPart(of bytes: Int) -> Int { bytes <= longestSmall ? bytes : 0 }
}

/// A part of a budget. It is released with the last reference, or earlier by `giveBack()`.
package final class MemoryReservation: Sendable {
    private let state: Mutex<State>
    private let budget: MemoryBudget
    private let client: ClientKey?

    private struct State {
        var bytes: Int
        var kind: Kind
    }

    fileprivate enum Kind {
        case reserved
        /// Counted without a question.
        case charged
        case yielding
    }

    fileprivate init(_ bytes: Int, of budget: MemoryBudget, for client: ClientKey? = nil, as kind: Kind) {
        state = Mutex(State(bytes: bytes, kind: kind))
        self.budget = budget
        self.client = client
    }

    deinit { giveBack() }

    /// Releases the reservation before its last reference.
    package func giveBack() { shrink(to: 0) }

    /// Increases the reservation to at least `total` bytes.
    /// - Returns: whether there was room.
    package func grow(to total: Int) -> Bool {
        state.withLock { state in
            precondition(state.kind == .reserved, "what is charged exists already")
            guard total > state.bytes else { return true }
            guard budget.change(state.bytes, to: total, of: client) else { return false }
            state.bytes = total
            return true
        }
    }

    /// Counts it from now on as `total` bytes, no more than before, that exist and cannot be refused. Nothing else gets its room meanwhile.
    package func settle(to total: Int) {
        state.withLock { state in
            precondition(state.kind == .reserved && total <= state.bytes, "only reserved bytes become charged ones")
            budget.settle(state.bytes, to: total, of: client)
            state = State(bytes: total, kind: .charged)
        }
    }

    /// Releases the bytes of the reservation beyond `total`.
    package func shrink(to total: Int) {
        state.withLock { state in
            guard total < state.bytes else { return }
            switch state.kind {
            case .reserved: _ = budget.change(state.bytes, to: total, of: client)
            case .charged: budget.addCharged(total - state.bytes)
            case .yielding: budget.addYielding(total - state.bytes)
            }
            state.bytes = total
        }
    }
}

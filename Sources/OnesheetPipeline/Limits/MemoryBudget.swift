import Synchronization

/// A limit for the bytes that originals and pixels in memory may occupy together.
///
/// Small reservations have a sixteenth of it to themselves, beyond the limit: a few large pictures, or what cannot be refused, such as
/// connections and responses, do not keep small pictures out.
package final class MemoryBudget: Sendable {
    package let limit: Int
    private let whole: MemoryBudget?
    private let state = Mutex(State())

    private struct State {
        var used = 0
        /// The bytes of small reservations.
        var small = 0
    }

    /// - Parameter whole: the budget that contains this one. Each reservation counts in both.
    package init(limit: Int, of whole: MemoryBudget? = nil) {
        self.limit = limit
        self.whole = whole
    }

    /// Bytes reserved at present.
    package var reserved: Int { state.withLock { $0.used } }

    /// The bytes of the largest small reservation.
    private var longestSmall: Int { limit / 32 }

    /// Reserves `bytes` until the last reference to the reservation is released; `nil` if there is no room.
    package func reserve(_ bytes: Int) -> MemoryReservation? {
        change(0, to: bytes) ? MemoryReservation(bytes, of: self, isCharged: false) : nil
    }

    /// Counts bytes that already exist and cannot be refused.
    package func charge(_ bytes: Int) -> MemoryReservation {
        add(bytes)
        return MemoryReservation(bytes, of: self, isCharged: true)
    }

    /// Changes a reservation of `old` bytes to one of `new` bytes.
    /// - Returns: `false` if there is no room, which never happens if `new` is less.
    fileprivate func change(_ old: Int, to new: Int) -> Bool {
        guard update(old, to: new) else { return false }
        guard let whole, !whole.change(old, to: new) else { return true }
        // Less always fits.
        _ = update(new, to: old)
        return false
    }

    /// Counts `new` bytes as used instead of `old`, in this budget alone, if there is room.
    private func update(_ old: Int, to new: Int) -> Bool {
        state.withLock { state in
            let small = state.small + smallPart(of: new) - smallPart(of: old)
            let hasRoom = new - old <= limit - state.used || smallPart(of: new) == new && small <= limit / 16
            guard hasRoom || new <= old else { return false }
            state.used += new - old
            state.small = small
            return true
        }
    }

    /// Subtracts charged bytes.
    fileprivate func subtract(_ bytes: Int) { add(-bytes) }

    private func add(_ bytes: Int) {
        state.withLock { $0.used += bytes }
        whole?.add(bytes)
    }

    /// The bytes of a reservation of `bytes` that count as small: all or none.
    private func smallPart(of bytes: Int) -> Int { bytes <= longestSmall ? bytes : 0 }
}

/// A part of a budget. It is released with the last reference, or earlier by `giveBack()`.
package final class MemoryReservation: Sendable {
    private let bytes: Mutex<Int>
    private let budget: MemoryBudget
    /// Whether the bytes were counted without a question.
    private let isCharged: Bool

    fileprivate init(_ bytes: Int, of budget: MemoryBudget, isCharged: Bool) {
        self.bytes = Mutex(bytes)
        self.budget = budget
        self.isCharged = isCharged
    }

    deinit { giveBack() }

    /// Releases the reservation before its last reference.
    func giveBack() { shrink(to: 0) }

    /// Increases the reservation to at least `total` bytes.
    /// - Returns: whether there was room.
    func grow(to total: Int) -> Bool {
        precondition(!isCharged, "what is charged exists already")
        return bytes.withLock { bytes in
            guard total > bytes else { return true }
            guard budget.change(bytes, to: total) else { return false }
            bytes = total
            return true
        }
    }

    /// Releases the bytes of the reservation beyond `total`.
    func shrink(to total: Int) {
        bytes.withLock { bytes in
            guard total < bytes else { return }
            if isCharged { budget.subtract(bytes - total) } else { _ = budget.change(bytes, to: total) }
            bytes = total
        }
    }
}

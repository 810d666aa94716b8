import OnesheetTransport
import Synchronization

/// A limit for the bytes that originals and pixels in memory may occupy together.
///
/// Small reservations have a sixteenth of it to themselves: a few large pictures do not keep small ones out. If what cannot be refused,
/// such as connections and responses, takes that sixteenth too, small reservations exceed the limit by it.
package final class MemoryBudget: Sendable {
    package let limit: Int
    private let standing: Int
    private let whole: MemoryBudget?
    private let state = Mutex(State())

    private struct State {
        var used = 0
        /// The bytes of small reservations.
        var small = 0
        /// The bytes of what yields to reservations of nearly the whole limit.
        var yielding = 0
    }

    /// - Parameters:
    ///   - standing: the bytes that are in use whatever is asked for.
    ///   - whole: the budget that contains this one. Each reservation counts in both.
    package init(limit: Int, standing: Int = 0, of whole: MemoryBudget? = nil) {
        self.limit = limit
        self.standing = standing
        self.whole = whole
    }

    /// Bytes reserved at present, without the standing and yielding ones.
    package var reserved: Int { state.withLock { $0.used } }
    /// Bytes that `charge(yielding:)` counts at present.
    package var yielding: Int { state.withLock { $0.yielding } }

    /// The bytes of the largest small reservation.
    private var longestSmall: Int { limit / 32 }
    /// The bytes that only small reservations may use.
    private var smallRoom: Int { limit / 16 }

    /// Reserves `bytes` until the last reference to the reservation is released; `nil` if there is no room.
    package func reserve(_ bytes: Int) -> MemoryReservation? {
        change(0, to: bytes) ? MemoryReservation(bytes, of: self, as: .reserved) : nil
    }

    /// Counts bytes that already exist and cannot be refused.
    package func charge(_ bytes: Int) -> MemoryReservation {
        add(bytes)
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
            let isSmall = smallPart(of: new) == new
            var most = limit - standing - (isSmall ? 0 : smallRoom)
            // What never fits beside the standing bytes and the room for small ones may take their place.
            most = new > most ? limit : most - state.yielding
            let hasRoom = new - old <= most - state.used || isSmall && small <= smallRoom
            guard hasRoom || new <= old else { return false }
            state.used += new - old
            state.small = small
            return true
        }
    }

    fileprivate func add(_ bytes: Int) {
        state.withLock { $0.used += bytes }
        whole?.add(bytes)
    }

    fileprivate func addYielding(_ bytes: Int) {
        state.withLock { $0.yielding += bytes }
        whole?.addYielding(bytes)
    }

    /// The bytes of a reservation of `bytes` that count as small: all or none.
    private func smallPart(of bytes: Int) -> Int { bytes <= longestSmall ? bytes : 0 }
}

/// A part of a budget. It is released with the last reference, or earlier by `giveBack()`.
package final class MemoryReservation: BodyMemory {
    private let bytes: Mutex<Int>
    private let budget: MemoryBudget
    private let kind: Kind

    fileprivate enum Kind {
        case reserved
        /// Counted without a question.
        case charged
        case yielding
    }

    fileprivate init(_ bytes: Int, of budget: MemoryBudget, as kind: Kind) {
        self.bytes = Mutex(bytes)
        self.budget = budget
        self.kind = kind
    }

    deinit { giveBack() }

    /// Releases the reservation before its last reference.
    func giveBack() { shrink(to: 0) }

    /// Increases the reservation to at least `total` bytes.
    /// - Returns: whether there was room.
    package func grow(to total: Int) -> Bool {
        precondition(kind == .reserved, "what is charged exists already")
        return bytes.withLock { bytes in
            guard total > bytes else { return true }
            guard budget.change(bytes, to: total) else { return false }
            bytes = total
            return true
        }
    }

    /// Releases the bytes of the reservation beyond `total`.
    package func shrink(to total: Int) {
        bytes.withLock { bytes in
            guard total < bytes else { return }
            switch kind {
            case .reserved: _ = budget.change(bytes, to: total)
            case .charged: budget.add(total - bytes)
            case .yielding: budget.addYielding(total - bytes)
            }
            bytes = total
        }
    }
}

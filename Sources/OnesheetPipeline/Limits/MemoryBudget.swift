import Synchronization

/// Bytes that originals under way and pixels in the making may occupy together.
package final class MemoryBudget: Sendable {
    package let limit: Int
    private let used = Mutex(0)

    package init(limit: Int) { self.limit = limit }

    /// Bytes that are held now.
    package var reserved: Int { used.withLock { $0 } }

    /// Room for `bytes`, until nobody has the hold any more; `nil` where there is none.
    func reserve(_ bytes: Int) -> MemoryReservation? { take(bytes) ? MemoryReservation(bytes, of: self) : nil }

    /// The same for what is there already and cannot be refused any more.
    package func charge(_ bytes: Int) -> MemoryReservation {
        used.withLock { $0 += bytes }
        return MemoryReservation(bytes, of: self)
    }

    fileprivate func take(_ bytes: Int) -> Bool {
        used.withLock { used in
            guard bytes <= limit - used else { return false }
            used += bytes
            return true
        }
    }

    fileprivate func giveBack(_ bytes: Int) { used.withLock { $0 -= bytes } }
}

/// Part of a budget. It goes back with the last reference, or when it is given back.
package final class MemoryReservation: Sendable {
    private let bytes: Mutex<Int>
    private let budget: MemoryBudget

    fileprivate init(_ bytes: Int, of budget: MemoryBudget) {
        self.bytes = Mutex(bytes)
        self.budget = budget
    }

    deinit { giveBack() }

    /// Gives it back before the last reference is gone.
    func giveBack() {
        budget.giveBack(
            bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            })
    }

    /// Makes the hold at least `total` bytes large.
    /// - Returns: whether there was room.
    func grow(to total: Int) -> Bool {
        bytes.withLock { bytes in
            guard total > bytes else { return true }
            guard budget.take(total - bytes) else { return false }
            bytes = total
            return true
        }
    }

    /// Gives back what the hold has beyond `total` bytes.
    func shrink(to total: Int) {
        bytes.withLock { bytes in
            guard total < bytes else { return }
            budget.giveBack(bytes - total)
            bytes = total
        }
    }
}

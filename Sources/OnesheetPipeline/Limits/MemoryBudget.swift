import Synchronization

/// A limit for the bytes that originals and pixels in memory may occupy together.
package final class MemoryBudget: Sendable {
    package let limit: Int
    private let whole: MemoryBudget?
    private let used = Mutex(0)

    /// - Parameter whole: the budget that contains this one. Each reservation counts in both.
    package init(limit: Int, of whole: MemoryBudget? = nil) { (self.limit, self.whole) = (limit, whole) }

    /// Bytes reserved at present.
    package var reserved: Int { used.withLock { $0 } }

    /// Reserves `bytes` until the last reference to the reservation is released; `nil` if there is no room.
    package func reserve(_ bytes: Int) -> MemoryReservation? { take(bytes) ? MemoryReservation(bytes, of: self) : nil }

    /// Counts bytes that already exist and cannot be refused.
    package func charge(_ bytes: Int) -> MemoryReservation {
        used.withLock { $0 += bytes }
        whole?.used.withLock { $0 += bytes }
        return MemoryReservation(bytes, of: self)
    }

    fileprivate func take(_ bytes: Int) -> Bool {
        let hasRoom = used.withLock { used in
            guard bytes <= limit - used else { return false }
            used += bytes
            return true
        }
        guard hasRoom, let whole, !whole.take(bytes) else { return hasRoom }
        used.withLock { $0 -= bytes }
        return false
    }

    fileprivate func giveBack(_ bytes: Int) {
        used.withLock { $0 -= bytes }
        whole?.giveBack(bytes)
    }
}

/// A part of a budget. It is released with the last reference, or earlier by `giveBack()`.
package final class MemoryReservation: Sendable {
    private let bytes: Mutex<Int>
    private let budget: MemoryBudget

    fileprivate init(_ bytes: Int, of budget: MemoryBudget) {
        self.bytes = Mutex(bytes)
        self.budget = budget
    }

    deinit { giveBack() }

    /// Releases the reservation before its last reference.
    func giveBack() {
        budget.giveBack(
            bytes.withLock { bytes in
                defer { bytes = 0 }
                return bytes
            })
    }

    /// Increases the reservation to at least `total` bytes.
    /// - Returns: whether there was room.
    func grow(to total: Int) -> Bool {
        bytes.withLock { bytes in
            guard total > bytes else { return true }
            guard budget.take(total - bytes) else { return false }
            bytes = total
            return true
        }
    }

    /// Releases the bytes of the reservation beyond `total`.
    func shrink(to total: Int) {
        bytes.withLock { bytes in
            guard total < bytes else { return }
            budget.giveBack(bytes - total)
            bytes = total
        }
    }
}

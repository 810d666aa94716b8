package import OnesheetCore
internal import Synchronization

/// The memory of one lookup for bytes that a tier reads. It is reserved before the read, so that concurrent lookups stay within the
/// budget. The cache gives no body without it.
package final class ReadingMemory: Sendable {
    /// Entries up to this size, in bytes, are not counted.
    package static let small = 64 << 10

    private struct State {
        var reservation: MemoryReservation?
        var isRefused = false
    }

    private let state = Mutex(State())
    private let reserve: @Sendable (_ bytes: Int) -> MemoryReservation?

    /// Reserves `memory` for the client of the current task. A single entry always fits, even if it exceeds the budget.
    package init(of memory: MemoryBudget) {
        let client = ClientKey.current
        reserve = { bytes in memory.reserve(bytes, for: client, alone: true) }
    }

    /// Counts what is read in `memory` and refuses nothing.
    package init(charging memory: MemoryBudget) {
        reserve = { bytes in memory.charge(bytes) }
    }

    private init() {
        reserve = { _ in nil }
    }

    /// The memory for an entry that is small by its kind, such as the facts about a poster. A larger one is not read.
    package static var forSmallEntries: ReadingMemory { ReadingMemory() }

    /// The reservation for the bytes that were read.
    package var reservation: MemoryReservation? { state.withLock { $0.reservation } }

    /// Whether a read was refused because there was no room.
    package var isRefused: Bool { state.withLock { $0.isRefused } }

    /// Reserves memory for a read.
    /// - Returns: whether `bytes` may be read.
    package func admit(_ bytes: Int) -> Bool {
        guard bytes > Self.small else { return true }
        let reservation = reserve(bytes)
        return state.withLock { state in
            state.reservation = reservation
            state.isRefused = reservation == nil
            return reservation != nil
        }
    }
}

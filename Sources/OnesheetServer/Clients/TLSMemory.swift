import OnesheetPipeline

/// Accounts for the buffers of the TLS library: those of a connection exist for as long as it is open.
///
/// The connections may have half of the memory for originals and pixels. They are part of it, and are never refused because pictures use it.
final class TLSMemory: Sendable {
    /// Bytes of a connection that has received a picture, as measured: 50 to 75 KiB with HTTP/1.1, 90 to 110 KiB with HTTP/2.
    static let perConnection = 96 << 10

    private let own: MemoryBudget
    private let whole: MemoryBudget

    init(of whole: MemoryBudget) {
        self.whole = whole
        own = MemoryBudget(limit: whole.limit / 2)
    }

    /// The most connections.
    var connections: Int { own.limit / Self.perConnection }

    /// The memory of a new connection until the result is released; `nil` if there is no room.
    func admit() -> [MemoryReservation]? {
        own.reserve(Self.perConnection).map { [$0, whole.charge(Self.perConnection)] }
    }
}

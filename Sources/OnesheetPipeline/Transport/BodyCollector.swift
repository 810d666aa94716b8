import NIOCore

/// Collects a body as it arrives. Reserves memory for received bytes only, because an announced length costs the sender nothing.
struct BodyCollector {
    enum Refusal: Error {
        case tooLarge, noMemory
    }

    /// The most announced bytes to reserve capacity for at once.
    private static let first = 256 << 10

    private(set) var bytes = ByteBuffer()
    let reservation: MemoryReservation
    private let limit: Int
    private let announced: Int?

    /// - Parameters:
    ///   - announced: the announced length, if there is one.
    ///   - limit: the limit in bytes.
    /// - Throws: `Refusal.tooLarge` if the announced length exceeds the limit.
    init(announced: Int?, limit: Int, budget: MemoryBudget) throws(Refusal) {
        if let announced, announced > limit { throw .tooLarge }
        guard let reservation = budget.reserve(0) else { throw .noMemory }
        self.announced = announced
        self.limit = limit
        self.reservation = reservation
    }

    /// Adds bytes.
    mutating func add(_ piece: ByteBuffer) throws(Refusal) {
        let (needed, capacity) = (bytes.readableBytes + piece.readableBytes, bytes.capacity)
        guard needed <= limit else { throw .tooLarge }
        if needed > capacity {
            let doubled = min(capacity * 2, announced ?? .max)
            let more = Self.rounded(max(needed, doubled, min(announced ?? 0, Self.first)))
            // While the buffer grows, the old and the new one exist together.
            guard reservation.grow(to: capacity + more) else { throw .noMemory }
            bytes.reserveCapacity(more)
            reservation.shrink(to: bytes.capacity)
        }
        bytes.writeImmutableBuffer(piece)
    }

    /// The next power of two, as buffers round up.
    private static func rounded(_ size: Int) -> Int { size < 2 ? 1 : 1 << (Int.bitWidth - (size - 1).leadingZeroBitCount) }
}

import NIOCore

/// Gathers a body as it comes. Memory is reserved for bytes that are there, not for bytes that were announced: words cost nothing.
struct BodyCollector {
    enum Refusal: Error {
        case tooLarge, noMemory
    }

    /// So many bytes of what is announced are made room for at once.
    private static let first = 256 << 10

    private(set) var bytes = ByteBuffer()
    let reservation: MemoryReservation
    private let limit: Int
    private let announced: Int?

    /// - Parameters:
    ///   - announced: the bytes that are to come, as far as it was said.
    ///   - limit: bytes that may come.
    /// - Throws: `Refusal.tooLarge` if more was announced than may come.
    init(announced: Int?, limit: Int, budget: MemoryBudget) throws(Refusal) {
        if let announced, announced > limit { throw .tooLarge }
        guard let reservation = budget.reserve(0) else { throw .noMemory }
        (self.announced, self.limit, self.reservation) = (announced, limit, reservation)
    }

    /// Takes the next bytes.
    mutating func add(_ piece: ByteBuffer) throws(Refusal) {
        let (needed, capacity) = (bytes.readableBytes + piece.readableBytes, bytes.capacity)
        guard needed <= limit else { throw .tooLarge }
        if needed > capacity {
            let doubled = min(capacity * 2, announced ?? .max)
            let more = Self.rounded(max(needed, doubled, min(announced ?? 0, Self.first)))
            // While it grows there are both, the old bytes and room for the new.
            guard reservation.grow(to: capacity + more) else { throw .noMemory }
            bytes.reserveCapacity(more)
            reservation.shrink(to: bytes.capacity)
        }
        bytes.writeImmutableBuffer(piece)
    }

    /// The next power of two, as buffers round up.
    private static func rounded(_ size: Int) -> Int { size < 2 ? 1 : 1 << (Int.bitWidth - (size - 1).leadingZeroBitCount) }
}

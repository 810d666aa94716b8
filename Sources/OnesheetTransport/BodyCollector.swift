package import NIOCore
package import OnesheetCore

/// Collects a body as it arrives. Reserves memory for received bytes only, because an announced length costs the sender nothing.
package struct BodyCollector {
    package enum Refusal: Error {
        case tooLarge, noMemory
    }

    /// The most announced bytes to reserve capacity for at once.
    private static let first = 256 << 10

    package private(set) var bytes = ByteBuffer()
    package let memory: MemoryReservation?
    private let limit: Int
    private let announced: Int?

    /// - Parameters:
    ///   - announced: the announced length, if there is one.
    ///   - limit: the limit in bytes.
    ///   - memory: counts the bytes, none so far; `nil` if the caller has counted them.
    /// - Throws: `Refusal.tooLarge` if the announced length exceeds the limit.
    package init(announced: Int?, limit: Int, memory: MemoryReservation?) throws(Refusal) {
        if let announced, announced > limit { throw .tooLarge }
        self.announced = announced
        self.limit = limit
        self.memory = memory
    }

    /// Adds bytes.
    package mutating func add(_ piece: ByteBuffer) throws(Refusal) {
        let (needed, capacity) = (bytes.readableBytes + piece.readableBytes, bytes.capacity)
        guard needed <= limit else { throw .tooLarge }
        if needed > capacity {
            let doubled = min(capacity * 2, announced ?? .max)
            let more = Self.rounded(max(needed, doubled, min(announced ?? 0, Self.first)))
            // While the buffer grows, the old and the new one exist together.
            guard memory?.grow(to: capacity + more) ?? true else { throw .noMemory }
            bytes.reserveCapacity(more)
            memory?.shrink(to: bytes.capacity)
        }
        bytes.writeImmutableBuffer(piece)
    }

    /// The next power of two, as buffers round up.
    private static func rounded(_ size: Int) -> Int { size < 2 ? 1 : 1 << (Int.bitWidth - (size - 1).leadingZeroBitCount) }
}

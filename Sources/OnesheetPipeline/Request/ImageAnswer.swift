import OnesheetHTTP
package import FoundationEssentials
internal import NIOCore
package import OnesheetCache
package import OnesheetCore

/// A variant and its provenance.
package struct ImageAnswer: Sendable {
    package let entry: CacheEntry
    /// Bytes of the image. The entry may come without its body.
    package let size: Int
    package let origin: AnswerOrigin
    /// The durations of the request's stages, in order.
    package var timings: [StageTiming]
    /// Whether the origin allows caches to store it.
    package let isStorable: Bool
    /// The memory reservation for a newly made image, which all sharers of this answer hold.
    package let reservation: MemoryReservation?

    package init(
        entry: CacheEntry, size: Int? = nil, origin: AnswerOrigin, timings: [StageTiming], isStorable: Bool = true,
        reservation: MemoryReservation? = nil
    ) {
        self.entry = entry
        self.origin = origin
        self.timings = timings
        self.isStorable = isStorable
        self.reservation = reservation
        self.size = size ?? entry.body.readableBytes
    }
}

extension ImageAnswer {
    /// The answer of a tier. The duration of a memory hit is negligible and left out, so that all memory hits within a second are
    /// identical.
    init(_ hit: CacheHit, timings: [StageTiming], reservation: MemoryReservation? = nil) {
        self.init(
            entry: hit.entry, size: hit.size, origin: hit.isFromMemory ? .memory : .tier(hit.tier),
            timings: hit.isFromMemory ? Self.atOnce : timings, reservation: reservation)
    }

    /// The immediate answer of a tier; `nil` if the entry is not fresh.
    package init?(freshHit hit: CacheHit, at now: Date) {
        guard hit.entry.state(at: now) == .fresh else { return nil }
        self.init(hit, timings: Self.atOnce)
    }

    /// The same answer without the bytes of the image. It keeps their number.
    package var withoutBody: ImageAnswer {
        var entry = entry
        entry.body = ByteBuffer()
        return ImageAnswer(entry: entry, size: size, origin: origin, timings: timings, isStorable: isStorable)
    }

    private static let atOnce = [StageTiming(stage: "cache", milliseconds: 0)]

    /// Whether it came from the memory tier.
    package var isFromMemory: Bool { origin == .memory }
}

/// The provenance of an answer.
package enum AnswerOrigin: Sendable, Equatable {
    /// The memory tier.
    case memory
    /// The tier of this name behind memory.
    case tier(String)
    /// Made for this request.
    case made
    /// Stale, and confirmed by revalidation of its original.
    case revalidated
    /// Stale, because its origin could not be reached.
    case staleOnError

    /// The name of the outcome in metrics: the tier's, or that of the making.
    package var outcome: String {
        switch self {
        case .memory: MemoryTier.name
        case .tier(let name): name
        case .made: "made"
        case .revalidated: "revalidated"
        case .staleOnError: "stale"
        }
    }
}

/// The duration of a stage.
package struct StageTiming: Sendable, Equatable {
    package let stage: String
    package let milliseconds: Double
}

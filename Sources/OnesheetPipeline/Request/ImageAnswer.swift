import OnesheetHTTP
package import FoundationEssentials
internal import NIOCore
package import OnesheetCache
package import OnesheetCore

/// A variant, and how it came about.
package struct ImageAnswer: Sendable {
    package let entry: CacheEntry
    /// How many bytes the image has; the entry can be without them.
    package let size: Int
    package let origin: AnswerOrigin
    /// How long each stage took that this request went through, in order.
    package var timings: [StageTiming]
    /// Whether the origin allows caches to store it.
    package let isStorable: Bool
    /// The memory that the image occupies, where it was made for those who share this answer.
    package let reservation: MemoryReservation?

    package init(
        entry: CacheEntry, size: Int? = nil, origin: AnswerOrigin, timings: [StageTiming], isStorable: Bool = true,
        reservation: MemoryReservation? = nil
    ) {
        (self.entry, self.origin, self.timings, self.isStorable, self.reservation) = (
            entry, origin, timings, isStorable, reservation
        )
        self.size = size ?? entry.body.readableBytes
    }
}

extension ImageAnswer {
    /// The answer that a tier had. Memory takes no time worth telling, so that all its answers of a second are the same.
    init(_ hit: CacheHit, timings: [StageTiming]) {
        self.init(entry: hit.entry, size: hit.size, origin: .tier(hit.tier), timings: hit.isFromMemory ? Self.atOnce : timings)
    }

    /// The answer that a tier had at once; `nil` unless it is fresh.
    package init?(freshHit hit: CacheHit, at now: Date) {
        guard hit.entry.state(at: now) == .fresh else { return nil }
        self.init(hit, timings: Self.atOnce)
    }

    private static let atOnce = [StageTiming(stage: "cache", milliseconds: 0)]

    /// Whether a tier had it.
    var isFromTier: Bool {
        if case .tier = origin { true } else { false }
    }

    /// Whether the memory tier had it.
    package var isFromMemory: Bool { origin == .tier(MemoryTier.name) }

    /// Until when the answer is fresh.
    package var freshUntil: Date {
        let freshness = entry.freshness?.freshUntil ?? .distantFuture
        return entry.expires.map { min($0, freshness) } ?? freshness
    }
}

/// Where an answer came from.
package enum AnswerOrigin: Sendable, Equatable {
    /// The tier of this name had it.
    case tier(String)
    /// It was made for this request.
    case made
    /// It was stale, and its original turned out to be the same still.
    case revalidated
    /// It is stale, and its origin could not be asked.
    case staleOnError
}

/// How long a stage took.
package struct StageTiming: Sendable, Equatable {
    package let stage: String
    package let milliseconds: Double
}

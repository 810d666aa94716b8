import OnesheetHTTP
import FoundationEssentials
import OnesheetCache
import OnesheetCore

/// An original with its freshness. Copies with changes share its memory reservation.
struct Original: Sendable {
    private(set) var entry: CacheEntry
    /// The end of freshness; `nil` if the original did not come over HTTP and is fresh as long as it exists.
    var freshness: Freshness? { entry.freshness }
    /// Whether a stale original is served because its origin cannot be reached.
    private(set) var standsIn = false
    /// The reservation for its bytes while a request uses it.
    private let reservation: MemoryReservation?

    /// - Parameter reservation: `nil` if the bytes are counted elsewhere, as in the memory tier.
    init(entry: CacheEntry, reservation: MemoryReservation?) {
        self.entry = entry
        self.reservation = reservation
    }

    /// The same original with another entry.
    func changed(_ change: (inout CacheEntry) -> Void) -> Original {
        var original = self
        change(&original.entry)
        return original
    }

    /// Pixels after orientation; `nil` if the entry was stored by a version that did not record them.
    var size: (width: Int, height: Int)? {
        guard let width = entry.presentation.width, let height = entry.presentation.height, (1...1 << 24).contains(width),
            (1...1 << 24).contains(height)
        else { return nil }
        return (width, height)
    }

    /// The same stale original, marked as served because its origin cannot be reached.
    func standingIn() -> Original {
        var original = self
        original.standsIn = true
        return original
    }

    /// Whether it and its variants may be stored.
    var isStorable: Bool { freshness?.isStorable ?? true }

    /// Whether `variant` was rendered from exactly these bytes.
    func isOriginal(of variant: CacheEntry) -> Bool { variant.provenance.original == entry.validator }

    /// The same original with this freshness, stored for as long as it is useful and for at most `lifetime`.
    func with(_ freshness: Freshness, keptAt now: Date, for lifetime: CacheExpiration) -> Original {
        var renewed = changed { entry in
            entry.freshness = freshness
            entry.provenance.askedAt = now
            let longest = lifetime.moment(from: now) ?? .distantFuture
            entry.cacheTime = .date(min(longest, freshness.usefulUntil(grace: longest.timeIntervalSince(now))))
            entry.expires = entry.cacheTime.moment(from: now)
        }
        renewed.standsIn = false
        return renewed
    }
}

extension CacheEntry {
    /// The same variant with the present freshness of `original`.
    func renewed(by original: Original) -> CacheEntry {
        var renewed = self
        renewed.freshness = original.freshness
        renewed.provenance.original = original.entry.validator
        renewed.provenance.askedAt = original.entry.provenance.askedAt
        renewed.cacheTime = original.entry.cacheTime
        renewed.expires = original.entry.expires
        renewed.tags = original.entry.tags
        return renewed
    }
}

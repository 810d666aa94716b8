import OnesheetHTTP
import FoundationEssentials
import OnesheetCache
import OnesheetCore

/// An original, and what may be done with it. What it is changed to keeps the memory that it holds.
struct Original: Sendable {
    private(set) var entry: CacheEntry
    /// Until when it is fresh; `nil` for one that did not come over HTTP, which is fresh for as long as it is there.
    var freshness: Freshness? { entry.freshness }
    /// Whether it is stale and serves all the same, because its origin could not be asked.
    private(set) var standsIn = false
    /// The memory that its bytes occupy, while it is under way.
    private let reservation: MemoryReservation?

    /// - Parameter reservation: `nil` for what is counted elsewhere, as the memory tier counts what it has.
    init(entry: CacheEntry, reservation: MemoryReservation?) { (self.entry, self.reservation) = (entry, reservation) }

    /// The same with another entry for its bytes.
    func changed(_ change: (inout CacheEntry) -> Void) -> Original {
        var original = self
        change(&original.entry)
        return original
    }

    /// Pixels as they are shown; `nil` for one that was stored before such things were noted.
    var size: (width: Int, height: Int)? {
        guard let width = entry.presentation.width, let height = entry.presentation.height else { return nil }
        return (width, height)
    }

    /// The same, in place of what its origin would have said.
    func standingIn() -> Original {
        var original = self
        original.standsIn = true
        return original
    }

    /// Whether it and what is made of it may be stored.
    var isStorable: Bool { freshness?.isStorable ?? true }

    /// Whether `variant` was made of these very bytes.
    func made(_ variant: CacheEntry) -> Bool { variant.provenance.original == entry.validator }

    /// The same with this freshness, kept for as long as it is of any use and for `lifetime` at the most.
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
    /// The same variant with what `original` says now.
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

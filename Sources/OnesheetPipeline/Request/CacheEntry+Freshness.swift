package import FoundationEssentials
import OnesheetCache
package import OnesheetCore

/// Decides whether a cached image may be served. Everything that serves images or originals asks here.
///
/// `Freshness` has the times that the origin allows, which `Freshness+Headers.swift` reads from its response. The tiers only decide
/// when they remove an entry (`ExpirationPolicy`), and `CacheLifetime` tells the same times to the caches of clients.
extension CacheEntry {
    /// The permitted use of this entry at `now`, according to the freshness of its original.
    func state(at now: Date) -> Freshness.State {
        guard let freshness else { return .fresh }
        // If the origin was asked in the future, the clock was set back, and the age is unknown.
        return ExpirationPolicy.isPast(validated, now: now) ? freshness.state(at: now) : .stale
    }

    /// The same entry after an answer that says that it may be wrong: its origin is asked before it is served again.
    var servedNoMoreWhileRevalidated: CacheEntry? {
        guard var freshness else { return nil }
        freshness.staleUntil = min(freshness.staleUntil, freshness.freshUntil)
        var entry = self
        entry.freshness = freshness
        return entry
    }

    /// When the origin was last asked for the original; the time at which the entry was made, if it has no origin.
    package var validated: Date { provenance.askedAt ?? created }

    /// The end of freshness: as the origin allows, and at most until the entry expires. `nil` is never.
    package var freshUntil: Date? { [freshness?.freshUntil, expires].compactMap(\.self).min() }
}

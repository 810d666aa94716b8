package import FoundationEssentials
package import OnesheetCore

/// How long caches may keep an entry from now on (RFC 9111, RFC 5861).
package struct CacheLifetime {
    /// Seconds until the entry becomes stale. Negative if it is stale.
    package let remaining: Int
    private let staleWhileRevalidate: Int
    private let staleIfError: Int
    /// Seconds after which no cache may use the response, not even a stale one.
    private let limit: Int

    private static let day = 86_400
    private static let year = 365 * day

    /// - Parameters:
    ///   - freshness: the origin's freshness, or `nil` if there is none.
    ///   - expires: when the tier removes the entry. Used if `freshness` is `nil`.
    ///   - limit: seconds after which no cache may use the response, not even a stale one; `nil` is none.
    ///   - now: the current time.
    package init(freshness: Freshness?, expires: Date?, atMost limit: Int? = nil, at now: Date) {
        self.limit = max(0, limit ?? .max)
        func seconds(_ from: Date, _ to: Date) -> Int { Int(max(-1e9, min(1e9, to.timeIntervalSince(from).rounded(.down)))) }
        remaining = (freshness?.freshUntil ?? expires).map { seconds(now, $0) } ?? Self.day
        // A stale response may be shown only for the remaining time.
        staleWhileRevalidate = freshness.map { seconds(max($0.freshUntil, now), $0.staleUntil) } ?? Self.day
        staleIfError = freshness.map { seconds(max($0.freshUntil, now), $0.staleOnErrorUntil) } ?? Self.day
    }

    /// The value of `Cache-Control`. Caches may keep an entry for at most a day, so that a purge reaches them. A versioned image
    /// never changes.
    ///
    /// `max-age` counts from the response, so that caches which ignore `Age` keep it no longer than this server either.
    package func cacheControl(isVersioned: Bool) -> String {
        if isVersioned { return limit < Self.year ? "public, max-age=\(limit)" : "public, max-age=\(Self.year), immutable" }
        let age = min(max(0, remaining), Self.day, limit)
        var directives = ["public", "max-age=\(age)"]
        for (name, seconds) in [("stale-while-revalidate", staleWhileRevalidate), ("stale-if-error", staleIfError)] {
            let seconds = min(seconds, Self.day, limit - age)
            if seconds > 0 { directives.append("\(name)=\(seconds)") }
        }
        return directives.joined(separator: ", ")
    }
}

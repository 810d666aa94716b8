package import FoundationEssentials
package import OnesheetCore

/// How long caches may keep an entry from now on (RFC 9111, RFC 5861).
package struct CacheLifetime {
    /// Seconds until the entry becomes stale. Negative if it is stale.
    package let remaining: Int
    private let staleWhileRevalidate: Int
    private let staleIfError: Int

    private static let day = 86_400
    private static let year = 365 * day

    /// - Parameters:
    ///   - freshness: the origin's freshness, or `nil` if there is none.
    ///   - expires: when the tier removes the entry. Used if `freshness` is `nil`.
    ///   - now: the current time.
    package init(freshness: Freshness?, expires: Date?, at now: Date) {
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
    /// - Parameter limit: a shorter time in seconds, after which caches have to ask again; `nil` is none.
    package func cacheControl(isVersioned: Bool, atMost limit: Int? = nil) -> String {
        if let limit { return "public, max-age=\(min(max(0, remaining), limit))" }
        if isVersioned { return "public, max-age=\(Self.year), immutable" }
        var directives = ["public", "max-age=\(min(max(0, remaining), Self.day))"]
        if staleWhileRevalidate > 0 { directives.append("stale-while-revalidate=\(min(staleWhileRevalidate, Self.day))") }
        if staleIfError > 0 { directives.append("stale-if-error=\(min(staleIfError, Self.day))") }
        return directives.joined(separator: ", ")
    }
}

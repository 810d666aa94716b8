package import FoundationEssentials
package import OnesheetCore

/// How old an entry is, and how long others may keep it (RFC 9111, RFC 5861).
package struct CacheLifetime {
    /// Seconds since its origin was asked.
    package let age: Int
    /// Seconds for which it is fresh still; below 0 if it is not.
    package let remaining: Int
    private let staleWhileRevalidate: Int
    private let staleIfError: Int

    private static let day = 86_400
    private static let year = 365 * day

    /// - Parameters:
    ///   - validated: when its origin was asked last.
    ///   - freshness: what its origin said; `nil` if it has none.
    ///   - expires: when its tier forgets it; counts if there is no freshness.
    ///   - now: the present moment.
    package init(validated: Date, freshness: Freshness?, expires: Date?, at now: Date) {
        func seconds(_ from: Date, _ to: Date) -> Int { Int(max(-1e9, min(1e9, to.timeIntervalSince(from).rounded(.down)))) }
        age = max(0, seconds(validated, now))
        remaining = (freshness?.freshUntil ?? expires).map { seconds(now, $0) } ?? Self.day
        staleWhileRevalidate = freshness.map { seconds($0.freshUntil, $0.staleUntil) } ?? Self.day
        staleIfError = freshness.map { seconds($0.freshUntil, $0.staleOnErrorUntil) } ?? Self.day
    }

    /// `Cache-Control`. Others keep nothing for longer than a day, so that a purge here reaches them; what is versioned never changes.
    ///
    /// `max-age` counts from `Age` ago, so that what is stale here is stale to others too, since the same moment.
    package func cacheControl(isVersioned: Bool) -> String {
        if isVersioned { return "public, max-age=\(Self.year), immutable" }
        var directives = ["public", "max-age=\(max(0, age + min(remaining, Self.day)))"]
        if staleWhileRevalidate > 0 { directives.append("stale-while-revalidate=\(min(staleWhileRevalidate, Self.day))") }
        if staleIfError > 0 { directives.append("stale-if-error=\(min(staleIfError, Self.day))") }
        return directives.joined(separator: ", ")
    }
}

package import FoundationEssentials

/// How long an original from an HTTP origin may be served, and how to ask whether it has changed: RFC 9111 as a shared cache reads it,
/// with the stale extensions of RFC 5861.
package struct Freshness: Sendable, Equatable, Codable {
    /// Whether the answer may be kept at all; `no-store` and `private` forbid it.
    package let isStorable: Bool
    /// Until when the original is fresh.
    package let freshUntil: Date
    /// Until when it may be served while it is fetched again.
    package let staleUntil: Date
    /// Until when it may be served when fetching it again fails.
    package let staleOnErrorUntil: Date
    /// The origin's strong or weak entity tag, as it was sent.
    package let entityTag: String?
    /// The origin's `Last-Modified`, as it was sent.
    package let lastModified: String?

    /// What may be done with a stored original.
    package enum State: Sendable, Equatable {
        /// Serve it.
        case fresh
        /// Serve it, and fetch it again meanwhile.
        case staleWhileRevalidate
        /// Fetch it again first; should that fail, serve it all the same.
        case staleIfError
        /// Fetch it again first.
        case stale
    }

    /// Reads an answer's headers.
    /// - Parameters:
    ///   - headers: names in lower case.
    ///   - requested: when the request was sent.
    ///   - received: when the answer came.
    package init(_ headers: [String: String], requested: Date, received: Date, rules: FreshnessRules = FreshnessRules()) {
        let directives = CacheDirectives(headers["cache-control"] ?? (headers["pragma"] == "no-cache" ? "no-cache" : ""))
        let reading = AnswerAge(headers, requested: requested, received: received)
        isStorable = !directives.has("no-store") && !directives.has("private") && headers["vary"] != "*"
        entityTag = headers["etag"]
        lastModified = headers["last-modified"]

        var lifetime = reading.lifetime(directives, unsaid: rules.unsaid)
        if directives.has("no-cache") { lifetime = 0 }
        lifetime = min(max(lifetime - reading.age, rules.minimum), rules.maximum)
        let end = received.addingTimeInterval(max(lifetime, 0))
        // These directives forbid to serve anything stale (RFC 9111 §5.2.2.2, §5.2.2.8; `s-maxage` implies the latter).
        let forbidsStale = ["must-revalidate", "proxy-revalidate", "s-maxage", "no-cache"].contains { directives.has($0) }
        func extra(_ name: String, _ configured: Double) -> Date {
            let seconds = directives.seconds(name) ?? (forbidsStale ? 0 : configured)
            return end.addingTimeInterval(directives.has("must-revalidate") ? 0 : seconds)
        }
        freshUntil = end
        staleUntil = extra("stale-while-revalidate", rules.staleWhileRevalidate)
        staleOnErrorUntil = extra("stale-if-error", rules.staleIfError)
    }

    /// What may be done at `now`.
    package func state(at now: Date) -> State {
        if now < freshUntil { return .fresh }
        if now < staleUntil { return .staleWhileRevalidate }
        return now < staleOnErrorUntil ? .staleIfError : .stale
    }

    /// Until when the original is of any use, so that a tier can keep it for so long: while it is fresh or may be stale, and, where
    /// the origin can be asked whether it has changed, for `grace` seconds more.
    package func usefulUntil(grace: Double) -> Date {
        let last = max(freshUntil, staleUntil, staleOnErrorUntil)
        return conditions.isEmpty ? last : max(last, freshUntil.addingTimeInterval(grace))
    }

    /// Headers that ask for the original only if it has changed (RFC 9110 §13.1); empty where the origin gave nothing to ask with.
    package var conditions: [String: String] {
        var headers: [String: String] = [:]
        if let entityTag { headers["if-none-match"] = entityTag }
        if let lastModified { headers["if-modified-since"] = lastModified }
        return headers
    }

    /// The freshness after the origin answered 304: as the new headers say, with the old validators where it sent none.
    package func revalidated(
        _ headers: [String: String], requested: Date, received: Date, rules: FreshnessRules = FreshnessRules()
    ) -> Freshness {
        var merged = headers
        if merged["etag"] == nil { merged["etag"] = entityTag }
        if merged["last-modified"] == nil { merged["last-modified"] = lastModified }
        return Freshness(merged, requested: requested, received: received, rules: rules)
    }
}

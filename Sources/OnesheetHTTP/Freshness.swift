package import FoundationEssentials
package import OnesheetCore

/// Parses freshness for a shared cache from an origin's headers (RFC 9111), with the stale extensions of RFC 5861.
extension Freshness {
    /// Parses a response's headers.
    /// - Parameters:
    ///   - headers: header fields with lower-case names.
    ///   - requested: when the request was sent.
    ///   - received: when the response arrived.
    package init(_ headers: [String: String], requested: Date, received: Date, rules: FreshnessRules = FreshnessRules()) {
        let directives = CacheDirectives(headers["cache-control"] ?? (headers["pragma"] == "no-cache" ? "no-cache" : ""))
        let reading = AnswerAge(headers, requested: requested, received: received)

        var lifetime = reading.lifetime(directives, unsaid: rules.unsaid)
        if directives.has("no-cache") { lifetime = 0 }
        lifetime = min(max(lifetime - reading.age, rules.minimum), rules.maximum)
        let end = received.addingTimeInterval(max(lifetime, 0))
        // These directives forbid stale responses (RFC 9111 §5.2.2.2, §5.2.2.8; `s-maxage` implies the latter).
        let forbidsStale = ["must-revalidate", "proxy-revalidate", "s-maxage", "no-cache"].contains { directives.has($0) }
        func extra(_ name: String, _ configured: Double) -> Date {
            let seconds = directives.seconds(name) ?? (forbidsStale ? 0 : configured)
            return end.addingTimeInterval(directives.has("must-revalidate") ? 0 : seconds)
        }
        self.init(
            isStorable: !directives.has("no-store") && !directives.has("private") && headers["vary"] != "*",
            freshUntil: end, staleUntil: extra("stale-while-revalidate", rules.staleWhileRevalidate),
            staleOnErrorUntil: extra("stale-if-error", rules.staleIfError), entityTag: headers["etag"],
            lastModified: headers["last-modified"])
    }

    /// The freshness after a 304: from the new headers, with the old validators if it has none.
    package func revalidated(
        _ headers: [String: String], requested: Date, received: Date, rules: FreshnessRules = FreshnessRules()
    ) -> Freshness {
        var merged = headers
        if merged["etag"] == nil { merged["etag"] = entityTag }
        if merged["last-modified"] == nil { merged["last-modified"] = lastModified }
        return Freshness(merged, requested: requested, received: received, rules: rules)
    }
}

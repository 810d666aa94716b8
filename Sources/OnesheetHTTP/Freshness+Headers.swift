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
        let said = headers["cache-control"] ?? (headers["pragma"] == "no-cache" ? "no-cache" : nil)
        let directives = CacheDirectives(said ?? "")
        let reading = AnswerAge(headers, requested: requested, received: received)

        var lifetime = reading.lifetime(directives, unsaid: rules.unsaid)
        if directives.has("no-cache") { lifetime = 0 }
        lifetime = min(max(lifetime - reading.age, rules.minimum), rules.maximum)
        let end = received.addingTimeInterval(max(lifetime, 0))
        // These directives forbid stale responses, whatever the extensions say (RFC 9111 §5.2.2.2, §5.2.2.4, §5.2.2.8). `s-maxage` forbids
        // them unless an extension allows them (§5.2.2.10).
        let forbidsStale = ["must-revalidate", "proxy-revalidate", "no-cache"].contains { directives.has($0) }
        func extra(_ name: String, _ configured: Double) -> Date {
            let allowed = directives.seconds(name) ?? (directives.has("s-maxage") ? 0 : configured)
            return end.addingTimeInterval(forbidsStale ? 0 : allowed)
        }
        self.init(
            isStorable: rules.storesAlways
                || (!directives.has("no-store") && !directives.has("private") && !variesByAnything(headers["vary"])),
            freshUntil: end, staleUntil: extra("stale-while-revalidate", rules.staleWhileRevalidate),
            staleOnErrorUntil: extra("stale-if-error", rules.staleIfError), entityTag: headers["etag"],
            lastModified: headers["last-modified"])
        func kept(_ text: String?) -> String? { text.map { $0.utf8.count <= Self.longestWords ? $0 : "no-cache" } }
        (cacheControl, expires) = (kept(said), kept(headers["expires"]))
    }

    /// The most bytes of a field that are kept for a later 304. A longer one counts as if it asked for a question each time.
    private static let longestWords = 1024

    /// Whether a 304 with this entity tag is about the stored original. One with another strong tag is about another (RFC 9111 §4.3.4).
    package func isConfirmed(by tag: String?) -> Bool {
        guard let tag, let entityTag, !tag.hasPrefix("W/") else { return true }
        return (entityTag.hasPrefix("W/") ? String(entityTag.dropFirst(2)) : entityTag).isExactly(tag)
    }

    /// The same freshness, but no longer than what the redirects that led to the original say of themselves: it is what its first URL
    /// shows only as long as each of them.
    /// - Parameter redirects: the header fields of each.
    package func within(
        _ redirects: [[String: String]], requested: Date, received: Date, rules: FreshnessRules = FreshnessRules()
    ) -> Freshness {
        var least = self
        for headers in redirects where ["cache-control", "expires", "pragma"].contains(where: { headers[$0] != nil }) {
            let own = Freshness(headers, requested: requested, received: received, rules: rules)
            least.isStorable = least.isStorable && own.isStorable
            least.freshUntil = min(least.freshUntil, own.freshUntil)
            least.staleUntil = min(least.staleUntil, own.staleUntil)
            least.staleOnErrorUntil = min(least.staleOnErrorUntil, own.staleOnErrorUntil)
        }
        return least
    }

    /// The freshness after a 304. Its headers replace the stored ones, and those that it does not have stay (RFC 9111 §3.2).
    package func revalidated(
        _ headers: [String: String], requested: Date, received: Date, rules: FreshnessRules = FreshnessRules()
    ) -> Freshness {
        var merged = headers
        if merged["etag"] == nil { merged["etag"] = entityTag }
        if merged["last-modified"] == nil { merged["last-modified"] = lastModified }
        if merged["cache-control"] == nil, merged["pragma"] == nil { merged["cache-control"] = cacheControl }
        if merged["expires"] == nil { merged["expires"] = expires }
        return Freshness(merged, requested: requested, received: received, rules: rules)
    }
}

/// Whether a `Vary` field has a `*`, alone or among names: no other request may get the response (RFC 9111 §4.1).
private func variesByAnything(_ field: String?) -> Bool {
    (field ?? "").pieces(at: ",").contains { $0.utf8.trimmed.isExactly("*") }
}

/// The configured freshness of a source's originals, which overrides the origin.
package struct FreshnessRules: Sendable, Hashable {
    /// Whether originals are stored that their origin forbids to store.
    package var storesAlways = false
    /// The minimum freshness in seconds. It does not override `no-store`.
    package var minimum: Double
    /// The maximum freshness in seconds.
    package var maximum: Double
    /// The freshness in seconds if the response has neither freshness information nor `Last-Modified`.
    package var unsaid: Double
    /// Seconds for which a stale original may be served while it is revalidated, if the origin does not say.
    package var staleWhileRevalidate: Double
    /// Seconds for which a stale original may be served if revalidation fails, if the origin does not say.
    package var staleIfError: Double

    package init(
        minimum: Double = 0, maximum: Double = .infinity, unsaid: Double = 86_400, staleWhileRevalidate: Double = 60,
        staleIfError: Double = 86_400
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.unsaid = unsaid
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
    }

    /// Creates the rules from a source's settings.
    package init(_ settings: FreshnessSettings) {
        self.init()
        minimum = settings.minimum?.seconds ?? minimum
        maximum = settings.maximum?.seconds ?? maximum
        staleWhileRevalidate = settings.staleWhileRevalidate?.seconds ?? staleWhileRevalidate
        staleIfError = settings.staleIfError?.seconds ?? staleIfError
        storesAlways = settings.store == .always
    }
}

/// The age of a response on arrival, and its freshness lifetime.
private struct AnswerAge {
    /// The age in seconds (RFC 9111 §4.2.3).
    let age: Double
    private let date: Date
    private let headers: [String: String]

    init(_ headers: [String: String], requested: Date, received: Date) {
        self.headers = headers
        date = headers["date"].flatMap { HTTPDate.parse($0, now: received) } ?? received
        let apparent = max(0, received.timeIntervalSince(date))
        // Caches on the way may each have added theirs: the first counts (RFC 9111 §5.1).
        let digits = (headers["age"] ?? "").utf8.prefix { (48...57).contains($0) }
        let said = Double(Substring(digits)).map { min($0, 2_147_483_648) } ?? 0
        age = max(apparent, said + max(0, received.timeIntervalSince(requested)))
    }

    /// The freshness lifetime in seconds (RFC 9111 §4.2.1). `unsaid` if the origin does not say.
    func lifetime(_ directives: CacheDirectives, unsaid: Double) -> Double {
        if let seconds = directives.seconds("s-maxage") ?? directives.seconds("max-age") { return seconds }
        if let expires = headers["expires"] {
            // An invalid date, such as `0`, means already expired.
            return HTTPDate.parse(expires, now: date).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        // Heuristic freshness: a tenth of the time since the last change (RFC 9111 §4.2.2).
        if let changed = headers["last-modified"].flatMap({ HTTPDate.parse($0, now: date) }), changed < date {
            return min(date.timeIntervalSince(changed) / 10, max(unsaid, 86_400) * 7)
        }
        return unsaid
    }
}

/// Parses a `Cache-Control` header (RFC 9111 §5.2) leniently. Malformed values get their most cautious interpretation.
private struct CacheDirectives {
    /// Arguments by lower-case directive. `nil` if a directive has no argument.
    private var arguments: [String: String?] = [:]

    init(_ header: String) {
        var rest = Substring(header).utf8
        while !rest.isEmpty {
            let name = rest.prefix { $0 != Self.equals && $0 != Self.comma }
            rest = rest[name.endIndex...]
            var argument: String?
            if rest.first == Self.equals {
                rest = rest.dropFirst()
                argument = Self.argument(&rest)
            }
            rest = rest.drop { $0 != Self.comma }.dropFirst()
            let known = name.trimmed.lowercasedASCII()
            guard !known.isEmpty else { continue }
            // If a directive occurs twice, the smaller number counts.
            if let earlier = arguments[known], Self.seconds(earlier) <= Self.seconds(argument) { continue }
            arguments[known] = argument
        }
    }

    func has(_ name: String) -> Bool { arguments.keys.contains(name) }

    /// The seconds of directive `name`. `nil` if the directive is absent, 0 if its argument is not a number.
    func seconds(_ name: String) -> Double? {
        guard let argument = arguments[name] else { return nil }
        return Self.seconds(argument)
    }

    private static func seconds(_ text: String?) -> Double {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return 0 }
        // Larger values count as 2^31 (RFC 9111 §1.2.2).
        return min(Double(text) ?? 0, 2_147_483_648)
    }

    // Split by bytes: a combining mark after a comma would otherwise hide the next directive.
    private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))

    private static func argument(_ rest: inout Substring.UTF8View) -> String {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == quote else {
            let token = rest.prefix { $0 != comma }
            rest = rest[token.endIndex...]
            return token.trimmed
        }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != quote {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { text.append(escaped) } else { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Substring.UTF8View {
    fileprivate var trimmed: String {
        var text = drop { $0 == 0x20 || $0 == 0x09 }
        while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}

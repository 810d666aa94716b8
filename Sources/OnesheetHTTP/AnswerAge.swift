internal import FoundationEssentials

/// The age of a response on arrival, and its freshness lifetime.
struct AnswerAge {
    /// The age in seconds (RFC 9111 §4.2.3).
    let age: Double
    private let date: Date
    private let headers: [String: String]

    init(_ headers: [String: String], requested: Date, received: Date) {
        self.headers = headers
        date = headers["date"].flatMap { HTTPDate.parse($0, now: received) } ?? received
        let apparent = max(0, received.timeIntervalSince(date))
        let said = headers["age"].flatMap { Double($0) }.map { $0.isFinite ? max($0, 0) : 0 } ?? 0
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

internal import FoundationEssentials

/// How old an answer was when it came, and how long it is fresh from when it was made.
struct AnswerAge {
    /// Seconds (RFC 9111 §4.2.3).
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

    /// Seconds (RFC 9111 §4.2.1); `unsaid` where the origin says nothing.
    func lifetime(_ directives: CacheDirectives, unsaid: Double) -> Double {
        if let seconds = directives.seconds("s-maxage") ?? directives.seconds("max-age") { return seconds }
        if let expires = headers["expires"] {
            // A date that cannot be read, 0 above all, is one in the past.
            return HTTPDate.parse(expires, now: date).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        // A tenth of the time for which it has not changed, as RFC 9111 §4.2.2 suggests.
        if let changed = headers["last-modified"].flatMap({ HTTPDate.parse($0, now: date) }), changed < date {
            return min(date.timeIntervalSince(changed) / 10, max(unsaid, 86_400) * 7)
        }
        return unsaid
    }
}

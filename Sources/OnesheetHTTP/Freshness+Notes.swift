internal import FoundationEssentials

/// A freshness goes with its original as notes of the cache entry, so that it is there without reading the body.
extension Freshness {
    /// The notes to store.
    package var notes: [String: String] {
        var notes = [
            "fresh-until": Self.text(freshUntil), "stale-until": Self.text(staleUntil),
            "stale-on-error-until": Self.text(staleOnErrorUntil),
        ]
        notes["etag"] = entityTag
        notes["last-modified"] = lastModified
        return notes
    }

    /// Reads the notes of an entry; `nil` where it was stored without a freshness.
    package init?(notes: [String: String]) {
        guard let fresh = Self.moment(notes["fresh-until"]), let stale = Self.moment(notes["stale-until"]),
            let staleOnError = Self.moment(notes["stale-on-error-until"])
        else { return nil }
        self.init(
            isStorable: true, freshUntil: fresh, staleUntil: stale, staleOnErrorUntil: staleOnError, entityTag: notes["etag"],
            lastModified: notes["last-modified"])
    }

    private init(
        isStorable: Bool, freshUntil: Date, staleUntil: Date, staleOnErrorUntil: Date, entityTag: String?, lastModified: String?
    ) {
        self.isStorable = isStorable
        (self.freshUntil, self.staleUntil, self.staleOnErrorUntil) = (freshUntil, staleUntil, staleOnErrorUntil)
        (self.entityTag, self.lastModified) = (entityTag, lastModified)
    }

    private static func text(_ date: Date) -> String { "\(date.timeIntervalSince1970)" }
    private static func moment(_ text: String?) -> Date? { text.flatMap(Double.init).map(Date.init(timeIntervalSince1970:)) }
}

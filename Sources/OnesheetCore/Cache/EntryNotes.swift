internal import FoundationEssentials

/// Freshness, provenance and presentation of an entry as named texts in a file. Only this type knows the names.
///
/// Unknown names and unreadable values are ignored, so older and newer versions read each other's files.
package struct EntryNotes {
    private enum Name: String, CaseIterable {
        case freshUntil = "fresh-until"
        case staleUntil = "stale-until"
        case staleOnErrorUntil = "stale-on-error-until"
        case entityTag = "etag"
        case lastModified = "last-modified"
        case cacheControl = "cache-control"
        case expires
        case location = "origin"
        case page
        case site
        case askedAt = "asked-at"
        case original
        case source
        case width
        case height
        case color
        case thumbHash = "thumbhash"
        case perceptualHash = "look"
        case stamp
    }

    private var texts: [Name: String] = [:]

    package init() {}

    /// The notes for `entry`, and the tier's own note.
    package init(_ entry: CacheEntry, stamp: String? = nil) {
        texts[.stamp] = stamp
        if let freshness = entry.freshness {
            texts[.freshUntil] = Self.text(freshness.freshUntil)
            texts[.staleUntil] = Self.text(freshness.staleUntil)
            texts[.staleOnErrorUntil] = Self.text(freshness.staleOnErrorUntil)
            texts[.entityTag] = freshness.entityTag
            texts[.lastModified] = freshness.lastModified
            texts[.cacheControl] = freshness.cacheControl
            texts[.expires] = freshness.expires
        }
        let (provenance, presentation) = (entry.provenance, entry.presentation)
        texts[.location] = provenance.location
        texts[.page] = provenance.page
        texts[.site] = provenance.site
        texts[.askedAt] = provenance.askedAt.map(Self.text)
        texts[.original] = provenance.original
        texts[.source] = provenance.source
        texts[.width] = presentation.width.map { "\($0)" }
        texts[.height] = presentation.height.map { "\($0)" }
        texts[.color] = presentation.color?.hexadecimal
        texts[.thumbHash] = presentation.thumbHash
        texts[.perceptualHash] = presentation.perceptualHash.map(\.hexadecimal)
    }

    /// Names and values in a fixed order, so that equal entries have equal bytes.
    package var pairs: [(name: String, value: String)] {
        Name.allCases.compactMap { name in texts[name].map { (name.rawValue, $0) } }
    }

    /// Adds a note from a file. The first of two values with one name counts.
    package mutating func add(_ name: String, value: String) {
        guard let name = Name(rawValue: name), texts[name] == nil else { return }
        texts[name] = value
    }

    /// The tier's own note.
    package var stamp: String? { texts[.stamp] }

    /// `nil` if the entry has no such notes.
    package var freshness: Freshness? {
        guard let fresh = moment(.freshUntil), let stale = moment(.staleUntil), let staleOnError = moment(.staleOnErrorUntil)
        else { return nil }
        var freshness = Freshness(
            freshUntil: fresh, staleUntil: stale, staleOnErrorUntil: staleOnError, entityTag: texts[.entityTag],
            lastModified: texts[.lastModified])
        (freshness.cacheControl, freshness.expires) = (texts[.cacheControl], texts[.expires])
        return freshness
    }

    package var provenance: Provenance {
        Provenance(
            location: texts[.location], page: texts[.page], site: texts[.site], askedAt: moment(.askedAt),
            original: texts[.original], source: texts[.source])
    }

    package var presentation: Presentation {
        Presentation(
            width: texts[.width].flatMap { Int($0) }, height: texts[.height].flatMap { Int($0) },
            color: texts[.color].flatMap { Color(hexadecimal: $0) }, thumbHash: texts[.thumbHash],
            perceptualHash: texts[.perceptualHash].flatMap { $0.utf8.count == 16 ? UInt64($0, radix: 16) : nil })
    }

    private func moment(_ name: Name) -> Date? {
        texts[name].flatMap(Double.init).flatMap { Date.isPlausible($0) ? Date(timeIntervalSince1970: $0) : nil }
    }

    private static func text(_ date: Date) -> String { "\(date.timeIntervalSince1970)" }
}

extension Date {
    /// Whether a date that is written in an entry can be one: within 30,000 years.
    static func isPlausible(_ seconds: Double) -> Bool { abs(seconds) < 1e12 }
}

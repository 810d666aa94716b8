internal import FoundationEssentials

/// Limits for the answers of sources: their size, and values that arithmetic, calendars and JSON can represent.
///
/// A single unusable value is left out: a number that is not finite, an empty size, a day outside the calendar. So is a title of a list
/// that is too large. An answer that is too large or ambiguous as a whole is malformed.
package enum AnswerCheck {
    /// Bytes of an id: the same as the longest URL that is fetched.
    package static let idBytes = 8192
    /// Bytes of one text.
    static let textBytes = 65_536
    /// The number and nesting of values in the details of a title.
    static let values = 10_000
    static let depth = 64
    /// Bytes of one title, bytes of one page of titles, and titles of a page.
    static let titleBytes = 1 << 20
    static let pageBytes = 8 << 20
    static let pageTitles = 10_000
    /// The highest page number.
    package static let lastPage = 1_000_000
    static let candidates = 10_000
    static let translations = 500
    /// Bytes of an error's text.
    static let reasonBytes = 1000
    /// The longest pause in seconds that a service may ask for. If it says more, it is asked again after this.
    static let longestPause = 3600
    /// Plausible pixels of a side.
    private static let sides = 1...1_000_000
    /// The years 1 to 9999, in seconds since 1970.
    static let calendar = -62_135_596_800.0...253_402_300_799.0

    /// The page without unusable values and titles.
    /// - Parameter missing: is told of each title that has no id or is too large. It may throw.
    /// - Throws: `SourceError.malformedAnswer` if the page is too large.
    package static func checked(
        _ page: TitlePage, missing: (SourceError) throws(SourceError) -> Void = { error throws(SourceError) in throw error }
    ) throws(SourceError) -> TitlePage {
        guard page.titles.count <= pageTitles else {
            throw .malformedAnswer(reason: "a page has \(page.titles.count) titles; at most \(pageTitles) are allowed")
        }
        var checkedPage = page
        checkedPage.titles = []
        var weight = 0
        for title in page.titles {
            let kept: Title
            do throws(SourceError) { kept = try checked(title) } catch {
                try missing(error)
                continue
            }
            weight += self.weight(of: kept)
            guard weight <= pageBytes else { throw .malformedAnswer(reason: "a page has more than \(pageBytes) bytes") }
            checkedPage.titles.append(kept)
        }
        if let total = page.total, total < 0 { checkedPage.total = nil }
        return checkedPage
    }

    /// The title without unusable values.
    /// - Throws: `SourceError.malformedAnswer` if the title has no id or is too large.
    package static func checked(_ title: Title) throws(SourceError) -> Title {
        _ = try checked(id: title.id)
        for text in title.texts { try check(text) }
        var title = title
        var count = 0
        for (name, value) in title.metadata {
            try check(name)
            title.metadata[name] = try checked(value, depth: 0, &count)
        }
        guard title.translations.count <= translations else {
            throw .malformedAnswer(reason: "a title has more than \(translations) translations", details: short(title.id))
        }
        for (language, texts) in title.translations {
            for (name, value) in texts.metadata {
                try check(name)
                title.translations[language]?.metadata[name] = try checked(value, depth: 0, &count)
            }
        }
        guard weight(of: title) <= titleBytes else {
            throw .malformedAnswer(reason: "a title has more than \(titleBytes) bytes", details: short(title.id))
        }
        return title
    }

    /// - Throws: `SourceError.malformedAnswer` if the id is empty or too long.
    package static func checked(id: String) throws(SourceError) -> String {
        guard (1...idBytes).contains(id.utf8.count) else {
            throw .malformedAnswer(reason: "a title's id has \(id.utf8.count) bytes; it needs 1 to \(idBytes)")
        }
        return id
    }

    /// The candidates without those whose name is longer than a URL may be.
    /// - Throws: `SourceError.malformedAnswer` if there are too many candidates.
    package static func checked(_ candidates: [PosterCandidate]) throws(SourceError) -> [PosterCandidate] {
        guard candidates.count <= self.candidates else {
            throw .malformedAnswer(reason: "there are \(candidates.count) candidates; at most \(self.candidates) are allowed")
        }
        return candidates.compactMap { candidate in
            guard (1...idBytes).contains(candidate.location.name.utf8.count) else { return nil }
            var candidate = candidate
            candidate.width = candidate.width.flatMap { sides.contains($0) ? $0 : nil }
            candidate.height = candidate.height.flatMap { sides.contains($0) ? $0 : nil }
            candidate.site = candidate.site.flatMap { $0.utf8.count <= idBytes ? $0 : nil }
            candidate.page = candidate.page.flatMap { $0.utf8.count <= idBytes ? $0 : nil }
            candidate.published = candidate.published.flatMap { calendar.contains($0.timeIntervalSince1970) ? $0 : nil }
            candidate.votes = candidate.votes.flatMap { CandidateFacts.possibleVotes.contains($0) ? $0 : nil }
            candidate.voteCount = candidate.voteCount.flatMap { $0 >= 0 ? $0 : nil }
            candidate.trust = candidate.trust.map { $0.isNaN ? 0 : min(max($0, 0), 1) }
            return candidate
        }
    }

    /// The names of genres within the limits of a page of titles.
    /// - Throws: `SourceError.malformedAnswer` if there are too many, or if a text is too long.
    package static func checked(genres: [String: String]) throws(SourceError) -> [String: String] {
        guard genres.count <= pageTitles else {
            throw .malformedAnswer(reason: "there are \(genres.count) genres; at most \(pageTitles) are allowed")
        }
        var bytes = 0
        for (id, name) in genres {
            try check(id)
            try check(name)
            bytes += id.utf8.count + name.utf8.count
        }
        guard bytes <= pageBytes else { throw .malformedAnswer(reason: "the genres have more than \(pageBytes) bytes") }
        return genres
    }

    /// The changes within the limits: if there are more titles than on a page, all titles count as changed.
    package static func checked(_ changes: TitleChanges) -> TitleChanges {
        guard case .titles(let ids) = changes else { return changes }
        return ids.count <= pageTitles ? .titles(ids.filter { (1...idBytes).contains($0.utf8.count) }) : .all
    }

    /// The error within the limits: texts that are shortened and escaped, and a time within the calendar.
    package static func checked(_ error: SourceError) -> SourceError {
        switch error {
        case .notFound(let id): .notFound(id: id.utf8.count <= idBytes ? id : short(id))
        case .unauthorized(let message): .unauthorized(message: short(message))
        case .quotaExhausted(let until): .quotaExhausted(until: until.flatMap { calendar.contains($0) ? $0 : nil })
        case .unavailable(let reason, let seconds):
            .unavailable(reason: short(reason), retryAfter: seconds.map { min(max($0, 1), longestPause) })
        case .failed(let reason, let details): .failed(reason: short(reason), details: short(details))
        case .overloaded(let seconds): .overloaded(retryAfter: min(max(seconds, 1), longestPause))
        case .rateLimited(let seconds): .rateLimited(retryAfter: min(max(seconds, 1), longestPause))
        case .malformedAnswer(let reason, let details): .malformedAnswer(reason: short(reason), details: details.map(short))
        case .unsupported(let what, let details): .unsupported(short(what), details: details.map(short))
        }
    }

    /// The approximate size of a title in memory, in bytes.
    package static func weight(of title: Title) -> Int {
        var weight = title.texts.reduce(200 + title.id.utf8.count) { $0 + $1.utf8.count }
        for metadata in [title.metadata] + title.translations.values.map(\.metadata) {
            for (name, value) in metadata { weight += name.utf8.count + Self.weight(of: value) }
        }
        return weight
    }

    private static func weight(of value: JSONValue) -> Int {
        switch value {
        case .string(let text): 32 + text.utf8.count
        case .array(let members): members.reduce(32) { $0 + weight(of: $1) }
        case .object(let members): members.reduce(32) { $0 + $1.key.utf8.count + weight(of: $1.value) }
        case .null, .bool, .integer, .number: 32
        }
    }

    private static func check(_ text: String) throws(SourceError) {
        guard text.utf8.count <= textBytes else {
            throw .malformedAnswer(reason: "a text has more than \(textBytes) bytes", details: short(text))
        }
    }

    /// The value without numbers that JSON cannot represent; `nil` if the value is such a number.
    private static func checked(_ value: JSONValue, depth: Int, _ count: inout Int) throws(SourceError) -> JSONValue? {
        count += 1
        guard count <= values, depth <= self.depth else {
            throw .malformedAnswer(
                reason: "a title's metadata has more than \(values) values, or more than \(self.depth) levels of nesting")
        }
        switch value {
        case .number(let number): return number.isFinite ? value : nil
        case .string(let text):
            try check(text)
            return value
        case .array(let members):
            var kept: [JSONValue] = []
            for member in members { if let member = try checked(member, depth: depth + 1, &count) { kept.append(member) } }
            return .array(kept)
        case .object(let members):
            var kept: [String: JSONValue] = [:]
            for (name, member) in members {
                try check(name)
                kept[name] = try checked(member, depth: depth + 1, &count)
            }
            return .object(kept)
        case .null, .bool, .integer: return value
        }
    }

    /// The start of a text, for an error. Visitors read it, so characters that change the appearance of others are escaped, as in the log.
    private static func short(_ text: String) -> String {
        guard text.utf8.count > reasonBytes else { return text.escaped }
        return String(decoding: text.utf8.prefix(reasonBytes), as: UTF8.self).escaped + "…"
    }
}

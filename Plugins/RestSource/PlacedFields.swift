internal import FoundationEssentials
internal import OnesheetCore

/// The places of the fields of a title or of a candidate, relative to `item`, from which they are read.
struct PlacedFields<Key: CodingKey & Hashable & Sendable>: Sendable, FieldReader {
    var places: [Key: Field] = [:]
    /// The places of fields that have members of any name.
    var groups: [Key: [String: Field]] = [:]
    var item = JSONValue.null
    var facts = Facts()
    /// Names the item in errors.
    var subject = ""

    /// The names of the variables.
    var names: Set<String> { (Array(places.values) + groups.values.flatMap(\.values)).reduce(into: []) { $0.formUnion($1.names) } }

    /// The same places in `item`.
    func reading(_ item: JSONValue, _ facts: Facts) -> Self {
        var fields = self
        (fields.item, fields.facts) = (item, facts)
        return fields
    }

    func required(_ field: Key) throws(SourceError) -> String {
        if let text = try text(field) { return text }
        throw .malformedAnswer(reason: "“\(subject)” has no \(field.stringValue) at \(places[field]?.text ?? "")")
    }

    func text(_ field: Key) throws(SourceError) -> String? { try places[field]?.text(in: item, facts) }

    func whole(_ field: Key) throws(SourceError) -> Int? { try places[field]?.whole(in: item, facts) }

    func day(_ field: Key) throws(SourceError) -> CalendarDay? { try text(field).flatMap(CalendarDay.init(written:)) }

    func moment(_ field: Key) throws(SourceError) -> Date? { try text(field).flatMap(PosterCandidate.moment) }

    func details(_ field: Key) throws(SourceError) -> [String: JSONValue] {
        var details: [String: JSONValue] = [:]
        for (name, place) in groups[field] ?? [:] { details[name] = try place.value(in: item, facts) }
        return details
    }

    func value(_ field: Key, isNumber: Bool) throws(SourceError) -> JSONValue? { try places[field]?.value(in: item, facts) }
}

extension CalendarDay {
    /// A day as services write it: `2026-11-20`, `20261120`, `2026-11-20T09:30:00Z`, `2026-7-1`, `20 Nov 2026`. Any other text is
    /// `nil`: an unreadable day counts as absent.
    fileprivate init?(written text: String) {
        if let day = CalendarDay(text.prefix { $0 != "T" }) {
            self = day
            return
        }
        var parts = text.split(whereSeparator: { $0 == "-" || $0 == " " })
        guard parts.count == 3 else { return nil }
        if let month = Self.months.firstIndex(of: parts[1].prefix(3).lowercased()), parts[1].count <= 9 {
            parts = [parts[2], Substring(String(month + 1)), parts[0]]
        }
        let numbers = parts.compactMap { part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil }
        guard numbers.count == 3 else { return nil }
        self.init(year: numbers[0], month: numbers[1], day: numbers[2])
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
}

import OnesheetCore

extension TitleQuery {
    /// A search by more bytes is answered without asking: no title's name has as many.
    package static let longestPhrase = 1000

    /// The same question in its one form: the words of a search with one space between them and none around; without words it is a list.
    var normalized: TitleQuery {
        var query = self
        let words = phrase?.split { $0.isWhitespace }.joined(separator: " ") ?? ""
        query.phrase = words.isEmpty ? nil : words
        return query
    }

    /// The text that answers are kept under. Searches that differ in upper and lower case share one.
    func key(of source: String) -> String { text(source, phrase?.lowercased()) }

    /// The text under which it is remembered that there is nothing. Services that look at the case find nothing for one spelling and
    /// something for another, so that here they stay apart.
    func missKey(of source: String) -> String { text(source, phrase) }

    private func text(_ source: String, _ phrase: String?) -> String {
        "\(source)://?\(date.map { "\($0)" } ?? "")&\(period.rawValue)&\(page)&\(phrase ?? "")"
    }

    /// Whether this is a list that a source shows by itself: its newest, or one of the last month's.
    func isCurrent(_ today: CalendarDay) -> Bool {
        guard phrase == nil, page == 1 else { return false }
        return date.map { $0 >= today.adding(days: -31) && $0 <= today.adding(days: 1) } ?? true
    }
}

/// Summarises the failures of many titles, one line per reason, because many titles often share one, such as an exhausted quota.
enum ErrorText {
    private static let shownTitles = 3

    static func of(_ failures: [(title: String, reason: String)]) -> [String] {
        let titles = Dictionary(grouping: failures) { $0.reason }.mapValues { $0.map(\.title) }
        var seen: Set<String> = []
        let reasons = failures.map(\.reason).filter { seen.insert($0).inserted }
        return reasons.map { reason in
            let titles = titles[reason] ?? []
            guard titles.count > 1 else { return "\(titles.joined()): \(reason)" }
            let more = titles.count > shownTitles ? " and \(titles.count - shownTitles) more" : ""
            return "\(titles.count) titles, \(titles.prefix(shownTitles).joined(separator: ", "))\(more): \(reason)"
        }
    }
}

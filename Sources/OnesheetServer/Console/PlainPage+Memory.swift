import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

extension PlainPage.View {
    /// The number of times that the page is in memory while it is made: as cards, as text and as bytes, beside their strings.
    private static let copies = 4
    /// The most that a byte of a text takes in HTML: `"` becomes `&quot;`.
    private static let escaped = 6
    /// The most that a byte of an id takes in a URL.
    private static let encoded = 3
    /// The markup of a title in a list, or of a candidate, in bytes.
    private static let card = 600

    /// The memory that the page takes while it is made, in bytes.
    var memory: Int {
        switch self {
        case .titles(let page, _):
            page.titles.reduce(0) { $0 + Self.memory(id: $1.id, links: 2, texts: [$1.name, $1.originalName ?? ""]) }
        case .title(let title):
            // All that a source says of it, beside its links.
            Self.memory(id: title.id, links: SizeLadder.names.count + 2, texts: [])
                + AnswerCheck.weight(of: title) * Self.escaped * Self.copies
        case .posters(let title, let document):
            document.candidates.reduce(0) { sum, candidate in
                let texts = [candidate.name, candidate.site ?? "", candidate.page ?? ""] + candidate.reasons
                return sum + Self.memory(id: title.id, links: 1, texts: texts)
            }
        case .problem, .needsScripts: 0
        }
    }

    private static func memory(id: String, links: Int, texts: [String]) -> Int {
        (card + id.utf8.count * encoded * links + texts.reduce(0) { $0 + $1.utf8.count } * escaped) * copies
    }
}

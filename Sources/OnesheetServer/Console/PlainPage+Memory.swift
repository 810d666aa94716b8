import OnesheetAddress
import OnesheetCore

extension PlainPage.View {
    /// The number of times that the page is in memory while it is made: as cards, as text and as bytes, beside their strings.
    private static let copies = 4
    /// The most that a byte of a text takes in HTML: `&` becomes `&amp;`.
    private static let escaped = 5
    /// The most that a byte of an id takes in a URL.
    private static let encoded = 3

    /// The memory that the page takes while it is made, in bytes.
    var memory: Int {
        switch self {
        case .titles(let page, _): page.titles.reduce(0) { $0 + Self.memory(of: $1, links: 2) }
        case .title(let title): Self.memory(of: title, links: SizeLadder.names.count + 2)
        case .posters(let title, let document):
            document.candidates.reduce(0) { sum, candidate in
                let words = [candidate.name, candidate.site ?? "", candidate.page ?? ""] + candidate.reasons
                return sum + Self.memory(id: title.id, links: 1, texts: words)
            }
        case .problem, .needsScripts: 0
        }
    }

    private static func memory(of title: Title, links: Int) -> Int {
        memory(id: title.id, links: links, texts: [title.name, title.originalName ?? "", title.overview ?? ""])
    }

    private static func memory(id: String, links: Int, texts: [String]) -> Int {
        (id.utf8.count * encoded * links + texts.reduce(0) { $0 + $1.utf8.count } * escaped) * copies
    }
}

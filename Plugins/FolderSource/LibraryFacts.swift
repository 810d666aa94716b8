internal import OnesheetCore

/// What a library says of a title: the name of its folder, `Film (2010) [tmdbid-27205]`, and its `.nfo` file, if there is one
/// (<https://kodi.wiki/view/NFO_files>).
struct LibraryFacts {
    private(set) var title: Title

    /// The longest file with facts.
    static let longestFile = 256 << 10

    /// - Parameter id: the folder of the title, the folder and the name of its file, or the folder of a show and its season.
    static func of(_ id: String) -> LibraryFacts {
        guard let (show, last) = id.cut(atLast: "/"), last.utf8.first == UInt8(ascii: "s"),
            let season = Int(last.dropFirst(bytes: 1))
        else { return LibraryFacts(named: id) }
        var facts = LibraryFacts(named: String(show))
        facts.title.id = id
        facts.title.name += season == 0 ? ", Specials" : ", Season \(season)"
        // They are those of the show.
        facts.title.ids = [:]
        return facts
    }

    private init(named id: String) {
        let name = id.cut(atLast: "/").map { String($0.after) } ?? id
        title = Title(id: id, name: name)
        var rest = name[...]
        for (open, close) in [("[", "]"), ("{", "}")] as [(Unicode.Scalar, Unicode.Scalar)] {
            var kept = ""
            while let (before, after) = rest.cut(at: open), let (tag, behind) = after.cut(at: close) {
                kept += before
                if !isID(tag) { kept += "\(open)\(tag)\(close)" }
                rest = behind
            }
            rest = (kept + rest)[...]
        }
        if let (before, after) = rest.cut(atLast: "("), let (year, _) = after.cut(at: ")"), let number = Int(year),
            (1800...2999).contains(number)
        {
            title.metadata["year"] = .integer(number)
            rest = before
        }
        let plain = rest.split(separator: " ").joined(separator: " ")
        if !plain.isEmpty { title.name = plain }
    }

    /// Adds what the file says, as far as it can be read.
    mutating func add(_ file: String) {
        let file = XMLReader.beginning(of: Array(file.utf8), into: NFOFile(), depth: 64)
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { name in file.elements.first { $0.name.isExactly(name) && !$0.text.isEmpty }?.text }.first
        }
        let isShow = file.root.isExactly("tvshow")
        if let name = first("title") { title.name = name.split { $0.isWhitespace }.joined(separator: " ") }
        title.originalName = first("originaltitle")
        title.overview = first("plot", "outline")
        title.releaseDate = first("premiered", "releasedate", "aired").flatMap { CalendarDay($0) }
        if let year = first("year").flatMap({ Int($0) }), (1800...2999).contains(year) { title.metadata["year"] = .integer(year) }
        for element in file.elements where element.name.isExactly("uniqueid") {
            let database = element.attributes.first { $0.name.isExactly("type") }?.value
            if let database { note(element.text, of: database.lowercasedASCII(), isShow) }
        }
        for database in ["imdb", "tmdb", "tvdb"] where title.ids[database] == nil {
            if let id = first("\(database)id") { note(id, of: database, isShow) }
        }
    }

    /// Whether a text in brackets names a database: `tmdbid-27205`, `imdb-tt1375666`, also with an equals sign. Notes the id.
    private mutating func isID(_ tag: Substring) -> Bool {
        guard let (name, id) = tag.cut(at: "-") ?? tag.cut(at: "=") else { return false }
        var database = name.lowercasedASCII()
        if database.hasSuffix("id") { database.removeLast(2) }
        note(String(id), of: database, false)
        return ["imdb", "tmdb", "tvdb"].contains(database)
    }

    private mutating func note(_ id: String, of database: String, _ isShow: Bool) {
        let isNumber = !id.isEmpty && id.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let isIMDb =
            id.starts(withBytesOf: "tt") && id.utf8.count > 2 && id.utf8.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) }
        guard id.utf8.count <= 20 else { return }
        switch database {
        case "imdb" where isIMDb, "tvdb" where isNumber: title.ids[database] = id
        // A show has the number of another film.
        case "tmdb" where isNumber: title.ids[database] = isShow ? "tv-\(id)" : id
        default: return
        }
    }
}

/// The elements within the root of an `.nfo` file, with their own texts.
private struct NFOFile: XMLHandler {
    struct Element {
        let name: String
        let attributes: [XMLAttribute]
        var text = ""
    }

    private(set) var root = ""
    /// Those that have ended.
    private(set) var elements: [Element] = []
    private var current: Element?
    private var text: [UInt8] = []
    private var depth = 0

    mutating func begin(_ name: String, _ attributes: [XMLAttribute]) {
        if depth == 0 { root = name }
        if depth == 1 { (current, text) = (Element(name: name, attributes: attributes), []) }
        depth += 1
    }

    mutating func text(_ bytes: some Collection<UInt8>) {
        if depth == 2 { text += bytes }
    }

    mutating func end() {
        depth -= 1
        guard depth == 1, var element = current else { return }
        element.text = String(decoding: text, as: UTF8.self).trimmed
        elements.append(element)
    }
}

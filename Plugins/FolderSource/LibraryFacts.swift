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

    /// Adds what the file says. A file that cannot be read says nothing.
    mutating func add(_ file: String) {
        let text = Self.simplified(file)
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { name in NFOElement.all(name, in: text).lazy.map(\.text).first { !$0.isEmpty } }.first
        }
        let isShow = text.contains("<tvshow")
        if let name = first("title") { title.name = name.split { $0.isWhitespace }.joined(separator: " ") }
        title.originalName = first("originaltitle")
        title.overview = first("plot", "outline")
        title.releaseDate = first("premiered", "releasedate", "aired").flatMap { CalendarDay($0) }
        if let year = first("year").flatMap({ Int($0) }), (1800...2999).contains(year) { title.metadata["year"] = .integer(year) }
        for element in NFOElement.all("uniqueid", in: text) {
            if let database = element.attribute("type") { note(element.text, of: database.lowercasedASCII(), isShow) }
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

    /// The document without comments, and with its sections of literal text (CDATA) as text with entities.
    private static func simplified(_ text: String) -> String {
        var (kept, rest) = ("", text[...])
        while let start = rest.firstRange(ofBytesOf: "<!") {
            kept += rest[..<start.lowerBound]
            rest = rest[start.upperBound...]
            let isText = rest.starts(withBytesOf: "[CDATA[")
            guard isText || rest.starts(withBytesOf: "--") else { continue }
            rest = rest.dropFirst(bytes: isText ? 7 : 2)
            guard let end = rest.firstRange(ofBytesOf: isText ? "]]>" : "-->") else { return kept }
            if isText { kept += escaped(rest[..<end.lowerBound]) }
            rest = rest[end.upperBound...]
        }
        return kept + rest
    }

    private static func escaped(_ text: Substring) -> String {
        String(text).replacing(bytesOf: "&", with: "&amp;").replacing(bytesOf: "<", with: "&lt;")
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = text.utf8.drop(while: isSpace)
        return String(decoding: bytes.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    }
}

/// An element without elements in it. That suffices for the facts of a title: others are not read, and nothing is expanded.
struct NFOElement {
    let attributes: Substring
    let text: String

    private static let longestTag = 1000

    /// The elements with this name that have only text, in order.
    static func all(_ name: String, in document: String) -> [NFOElement] {
        var elements: [NFOElement] = []
        var rest = document[...]
        while elements.count < 32, let start = rest.firstRange(ofBytesOf: "<\(name)") {
            rest = rest[start.upperBound...]
            guard let first = rest.utf8.first, first == UInt8(ascii: ">") || first == 0x20 || (0x09...0x0D).contains(first),
                let end = rest.utf8.prefix(longestTag).firstIndex(of: UInt8(ascii: ">"))
            else { continue }
            let attributes = rest[..<end]
            let after = rest[rest.utf8.index(after: end)...]
            guard let (text, _) = after.cut(at: "<") else { break }
            rest = after
            guard after[text.endIndex...].starts(withBytesOf: "</\(name)>") else { continue }
            elements.append(NFOElement(attributes: attributes, text: LibraryFacts.trimmed(unescaped(text))))
        }
        return elements
    }

    /// The value of `name="value"`.
    func attribute(_ name: String) -> String? {
        for mark in ["\"", "'"] as [Unicode.Scalar] {
            guard let start = attributes.firstRange(ofBytesOf: "\(name)=\(mark)") else { continue }
            return attributes[start.upperBound...].cut(at: mark).map { String($0.before) }
        }
        return nil
    }

    private static let longestEntity = 10

    /// With the entities of XML, and characters by number, as what they mean.
    private static func unescaped(_ text: Substring) -> String {
        var (kept, rest) = ("", text)
        while let (before, after) = rest.cut(at: "&") {
            kept += before
            rest = after
            guard after.utf8.prefix(longestEntity).contains(UInt8(ascii: ";")), let (name, behind) = after.cut(at: ";"),
                let character = character(name)
            else {
                kept += "&"
                continue
            }
            kept.unicodeScalars.append(character)
            rest = behind
        }
        return kept + rest
    }

    private static func character(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case "amp": return "&"
        default:
            guard name.utf8.first == UInt8(ascii: "#") else { return nil }
            let digits = name.dropFirst(bytes: 1)
            let isHexadecimal = digits.utf8.first.map { $0 | 0x20 } == UInt8(ascii: "x")
            let number = isHexadecimal ? UInt32(digits.dropFirst(bytes: 1), radix: 16) : UInt32(digits)
            return number.flatMap { $0 < 0x20 ? nil : Unicode.Scalar($0) }
        }
    }
}

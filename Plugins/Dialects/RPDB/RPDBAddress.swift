import OnesheetAddress
import OnesheetCore

/// The style in an address: a kind of image, and a label for what is drawn on it: `poster-default`, `textless-bar`.
struct RPDBStyle {
    enum Word: String {
        case poster, textless, rating, backdrop, logo, episode, thumbnail, season
    }

    let word: Word
    /// Empty if there is none.
    let label: Substring

    /// - Returns: `nil` if it begins with no known word.
    init?(_ text: Substring) {
        let (word, label) = text.cut(at: "-") ?? (text, "")
        guard let known = Word(rawValue: String(word)), label.utf8.count <= 64 else { return nil }
        (self.word, self.label) = (known, label)
    }

    var kind: ImageKind {
        switch word {
        case .poster, .textless, .rating: .poster
        case .backdrop: .backdrop
        case .logo: .logo
        case .episode, .thumbnail: .still
        case .season: .season
        }
    }

    /// Whether the label asks for more than the image.
    var asksForMore: Bool { word == .rating || !label.isEmpty && label != "default" }
}

/// An address behind the key: `imdb/poster-default/tt0137523.jpg?lang=de&fallback=true`.
struct RPDBAddress {
    enum Database: String {
        case imdb, tmdb, tvdb
    }

    enum ID {
        /// A show of TMDB, whose numbers are also those of films.
        case show(Substring)
        case other(String)
    }

    let database: Database
    let id: ID
    /// The season or episode of the show: `-s2`, `-s2-e1`.
    let part: String
    let kind: ImageKind
    let selector: ImageSelector
    /// In Onesheet's grammar.
    let options: [String]
    let wantsFallback: Bool
    let ignored: [String]

    /// - Parameters:
    ///   - path: behind the key.
    ///   - languages: those of the key.
    /// - Throws: `RequestError` with the part that is not understood. It has no key.
    init(_ path: Substring, query: Substring, languages: LanguageList?) throws(RequestError) {
        let parts = path.pieces(at: "/", omittingEmptySubsequences: false)
        guard let database = Database(rawValue: String(parts[0])), parts.count > 2, let style = RPDBStyle(parts[1]),
            parts.count == 3 || parts.count == 4 && style.word == .thumbnail
        else { throw .noSuchPath("/…/\(String(path).shortened(to: 128))") }
        // `thumbnail/tt0903747/S1E1.jpg` is `thumbnail/episode-tt0903747-S1E1.jpg`.
        let file = try RPDBFile(parts.count == 4 ? "episode-\(parts[2])-\(parts[3])" : parts[2], of: style)
        let parameters = try RPDBParameters(query)
        self.database = database
        kind = style.kind
        (id, part) = try Self.id(file.name, in: database, of: style)
        options = try RPDBSize.options(parameters.size, of: kind) + ["format:\(file.format)"]
        wantsFallback = parameters.wantsFallback
        ignored = (style.asksForMore ? ["label"] : []) + parameters.ignored
        let isTextless = style.word == .textless || parameters.isTextless
        // The posters of a season are the posters of its title.
        let selected = kind == .season ? .poster : kind
        // Backdrops and stills are best without words.
        guard selected.hasText else {
            selector = ImageSelector(selected)
            return
        }
        let first: [LanguageList.Entry] = isTextless ? [.textless] : []
        let wanted = first + parameters.language + (languages?.entries ?? [])
        selector = ImageSelector(selected, in: wanted.isEmpty ? nil : try LanguageList(Array(wanted.prefix(LanguageList.most))))
    }

    /// - Parameter name: the id as it is written: `movie-550`, `episode-tt0903747-S1E1`.
    private static func id(
        _ name: Substring, in database: Database, of style: RPDBStyle
    ) throws(RequestError) -> (id: ID, part: String) {
        var (name, part) = (name, "")
        for word in ["episode-", "season-"] where name.starts(withBytesOf: word) {
            guard let (show, numbers) = name.dropFirst(bytes: word.utf8.count).cut(atLast: "-"),
                let read = Self.part(numbers, hasEpisode: word == "episode-")
            else {
                let form = word == "episode-" ? "episode-tt0903747-S1E1" : "season-tt0903747-S1"
                throw .malformed("“\(String(name).shortened(to: 64))” needs a form such as \(form)")
            }
            (name, part) = (show, read)
        }
        if style.word == .season, part.isEmpty {
            throw .malformed("the poster of a season needs an id such as season-tt0903747-S2")
        }
        let isPart = !part.isEmpty
        switch database {
        case .imdb:
            let isNumber = !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return (.other(isNumber ? "tt\(name)" : String(name)), part)
        case .tmdb:
            for word in ["series-", "tv-"] where name.starts(withBytesOf: word) {
                return (.show(try number(name.dropFirst(bytes: word.utf8.count))), part)
            }
            if isPart { return (.show(try number(name)), part) }
            guard name.starts(withBytesOf: "movie-") else {
                throw .malformed(
                    "“\(String(name).shortened(to: 64))” may be a film or a show: ids of TMDB are movie-550 and series-1396 here")
            }
            return (.other(String(try number(name.dropFirst(bytes: 6)))), part)
        case .tvdb:
            let show = name.starts(withBytesOf: "series-") ? name.dropFirst(bytes: 7) : name
            return (.other(String(try number(show))), part)
        }
    }

    /// A number without zeros in front, so that each title has one id.
    private static func number(_ text: Substring) throws(RequestError) -> Substring {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .malformed("“\(String(text).shortened(to: 64))” is not a number of a title")
        }
        let digits = text.drop { $0 == "0" }
        return digits.isEmpty ? "0" : digits
    }

    /// `S1E1` as `-s1-e1`.
    private static func part(_ text: Substring, hasEpisode: Bool) -> String? {
        guard let first = text.first, first == "S" || first == "s" else { return nil }
        let numbers = text.dropFirst(bytes: 1).split(omittingEmptySubsequences: false) { $0 == "E" || $0 == "e" }.map { Int($0) }
        guard numbers.count == (hasEpisode ? 2 : 1), numbers.allSatisfy({ (0...99_999).contains($0 ?? -1) }) else { return nil }
        return zip(["-s", "-e"], numbers).map { "\($0)\($1 ?? 0)" }.joined()
    }
}

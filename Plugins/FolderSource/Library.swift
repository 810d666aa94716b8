internal import OnesheetCore

/// The images of a library of Jellyfin, Kodi or Plex: `Film (2010)/poster.jpg`, `Film (2010)/fanart1.jpg`, `Films/Film (2010)-poster.jpg`,
/// `Show/season01-poster.jpg`, `Show/Season 01/poster.jpg` (<https://jellyfin.org/docs/general/server/media/movies>, <https://kodi.wiki/view/Artwork>).
///
/// A folder with an image of a known name is one title. In other folders, each name is one.
enum Library {
    /// What a file is to a title.
    private struct Role {
        /// The folder, or the folder and the name of the film's file.
        var title: String
        /// `nil` for a file with facts.
        var kind: ImageKind?
        /// Smaller is better.
        var place = 0

        /// Whether a file of this format can have the role.
        func suits(_ file: PictureFile) -> Bool { kind == .logo || !Library.has(file, Library.drawingExtension) }
    }

    /// The names of images, best first.
    private static let names: [(name: String, kind: ImageKind)] = [
        ("poster", .poster), ("folder", .poster), ("cover", .poster), ("default", .poster), ("movie", .poster), ("show", .poster),
        ("keyart", .poster), ("fanart", .backdrop), ("backdrop", .backdrop), ("background", .backdrop), ("art", .backdrop),
        ("clearlogo", .logo), ("logo", .logo), ("banner", .banner), ("landscape", .still), ("thumb", .still),
    ]

    /// The extension of files with facts.
    static let factsExtension = "nfo"
    /// The extension of drawings (SVG), which only logos may be.
    static let drawingExtension = "svg"

    /// Titles from files, ordered by id.
    static func grouped(_ files: [PictureFile]) -> [Picture] {
        let owners = Set(files.filter { role(ofNamed: $0)?.suits($0) ?? false }.map { ExactText(folder(of: $0.path)) })
        let seasons = seasons(of: files, owners: owners)
        var titles: [ExactText: [(role: Role, file: PictureFile)]] = [:]
        for file in files {
            let folder = ExactText(folder(of: file.path))
            guard let role = role(of: file, isOwn: owners.contains(folder), seasons), role.suits(file) else { continue }
            titles[ExactText(role.title), default: []].append((role, file))
        }
        return titles.sorted { $0.key < $1.key }.compactMap { id, members in
            // What has only a scene is an episode.
            guard members.contains(where: { ![nil, .still].contains($0.role.kind) }) else { return nil }
            let sorted = members.sorted { one, other in
                guard one.role.place == other.role.place else { return one.role.place < other.role.place }
                return (one.file.bytes, ExactText(other.file.path)) > (other.file.bytes, ExactText(one.file.path))
            }
            return Picture(
                id: id.description,
                files: sorted.map { role, file in
                    var file = file
                    file.kind = role.kind
                    return file
                })
        }
    }

    private static func folder(of path: String) -> String { path.cut(atLast: "/").map { String($0.before) } ?? "" }

    /// The name without its extension, in lower case, because names of libraries have no case.
    private static func base(of path: String) -> String { name(of: Picture.id(of: path)) }

    private static func name(of path: String) -> String {
        (path.cut(atLast: "/")?.after ?? path[...]).lowercasedASCII()
    }

    /// The role of a file with the name of an image, which stands for its folder.
    private static func role(ofNamed file: PictureFile) -> Role? {
        guard let (folder, _) = file.path.cut(atLast: "/"), !isFacts(file), !isExtra(String(folder)) else { return nil }
        return named(base(of: file.path)[...]).map { Role(title: String(folder), kind: $0.kind, place: $0.place) }
    }

    /// The titles of the folders that are seasons of a show, such as `Show/s2` of `Show/Season 02`. `Specials` is one if something else says
    /// that it is in a show: a file with facts or an image of the show, or another season.
    private static func seasons(of files: [PictureFile], owners: Set<ExactText>) -> [ExactText: String] {
        let facts = files.filter { isFacts($0) && base(of: $0.path) == "tvshow" }
        var shows = owners.union(facts.map { ExactText(folder(of: $0.path)) })
        var seasons: [ExactText: String] = [:]
        let specials = owners.filter { name(of: $0.description) == "specials" }
        for owner in owners.subtracting(specials) {
            guard let (show, last) = owner.description.cut(atLast: "/"), let number = seasonNumber(last.lowercasedASCII()) else {
                continue
            }
            seasons[owner] = "\(show)/s\(number)"
            shows.insert(ExactText(String(show)))
        }
        for owner in specials {
            guard let (show, _) = owner.description.cut(atLast: "/"), shows.contains(ExactText(String(show))) else { continue }
            seasons[owner] = "\(show)/s0"
        }
        return seasons
    }

    /// The number of `season 02`, `season2` or `s02`, with more behind it or nothing.
    private static func seasonNumber(_ name: String) -> Int? {
        let isWord = name.starts(withBytesOf: "season")
        guard isWord || name.utf8.first == UInt8(ascii: "s") else { return nil }
        var rest = name.dropFirst(bytes: isWord ? 6 : 1)
        if isWord, rest.utf8.first == 0x20 { rest = rest.dropFirst() }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        let behind = rest[digits.endIndex...]
        guard digits.utf8.count <= 4, behind.isEmpty || (isWord && behind.utf8.first == 0x20) else { return nil }
        return Int(digits)
    }

    /// - Parameters:
    ///   - isOwn: whether the folder is one title.
    ///   - seasons: the titles of the folders that are seasons.
    private static func role(of file: PictureFile, isOwn: Bool, _ seasons: [ExactText: String]) -> Role? {
        let (folder, base, id) = (folder(of: file.path), base(of: file.path), Picture.id(of: file.path))
        let own = name(of: folder)
        if let season = seasons[ExactText(folder)] { return role(base, own, in: season, isFacts: isFacts(file)) }
        if isFacts(file) {
            let isFolders = isOwn || ["movie", "tvshow"].contains(base) || base.isExactly(own)
            return Role(title: isFolders && !folder.isEmpty ? folder : id)
        }
        if let role = role(ofNamed: file) { return role }
        if isExtra(folder), let (title, _) = folder.cut(atLast: "/") {
            return Role(title: seasons[ExactText(String(title))] ?? String(title), kind: .backdrop, place: names.count)
        }
        if !folder.isEmpty, let season = season(base) {
            return Role(title: "\(folder)/s\(season.number)", kind: season.kind, place: season.place)
        }
        if let (film, found) = filmAndName(base) {
            let ending = base.utf8.count - film.utf8.count
            let alone = String(decoding: id.utf8.dropLast(ending), as: UTF8.self)
            return Role(title: isOwn || film.isExactly(own) ? folder : alone, kind: found.kind, place: found.place)
        }
        if base.isExactly(own) { return Role(title: folder, kind: .poster) }
        return isOwn ? nil : Role(title: id, kind: .poster)
    }

    /// The role of a file in the folder of a season. Its other images and its files with facts are those of episodes.
    private static func role(_ base: String, _ own: String, in season: String, isFacts: Bool) -> Role? {
        guard !isFacts else { return nil }
        if let found = named(base[...]) { return Role(title: season, kind: found.kind, place: found.place) }
        if let found = Self.season(base), let (show, _) = season.cut(atLast: "/") {
            return Role(title: "\(show)/s\(found.number)", kind: found.kind, place: found.place)
        }
        return base.isExactly(own) ? Role(title: season, kind: .poster) : nil
    }

    /// Whether a folder has further backdrops of the folder that it is in.
    private static func isExtra(_ folder: String) -> Bool { name(of: folder).isExactly("extrafanart") }

    private static func isFacts(_ file: PictureFile) -> Bool { has(file, factsExtension) }

    private static func has(_ file: PictureFile, _ end: String) -> Bool {
        file.path.cut(atLast: ".")?.after.lowercasedASCII() == end
    }

    /// The kind that a name stands for, with a number at its end or without: `fanart`, `fanart1`, `fanart-1`.
    private static func named(_ text: Substring) -> (kind: ImageKind, place: Int)? {
        var name = text
        while let last = name.utf8.last, (0x30...0x39).contains(last) { name = name.dropLast() }
        if name.utf8.count < text.utf8.count, name.utf8.last == UInt8(ascii: "-") { name = name.dropLast() }
        return names.firstIndex { name.isExactly($0.name) }.map { (names[$0].kind, $0) }
    }

    /// The parts of `film (2010)-fanart-1`: the film and what is left of the name.
    private static func filmAndName(_ base: String) -> (film: Substring, name: (kind: ImageKind, place: Int))? {
        var rest = base[...]
        while let (film, _) = rest.cut(atLast: "-") {
            if let name = named(base[film.endIndex...].dropFirst(bytes: 1)), !film.isEmpty { return (film, name) }
            guard base[film.endIndex...].dropFirst(bytes: 1).utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = film
        }
        return nil
    }

    /// The season of `season01-poster`, `season-specials-poster` or `season01`.
    private static func season(_ base: String) -> (number: Int, kind: ImageKind, place: Int)? {
        guard base.starts(withBytesOf: "season") else { return nil }
        let text = base.dropFirst(bytes: "season".utf8.count)
        let (number, name) =
            text.starts(withBytesOf: "-specials")
            ? ("0", text.dropFirst(bytes: "-specials".utf8.count)) : (text.prefix { $0.isNumber }, text.drop { $0.isNumber })
        guard let season = Int(number), season < 10_000 else { return nil }
        if name.isEmpty { return (season, .poster, 0) }
        guard name.starts(withBytesOf: "-"), let found = named(name.dropFirst(bytes: 1)) else { return nil }
        return (season, found.kind, found.place)
    }
}

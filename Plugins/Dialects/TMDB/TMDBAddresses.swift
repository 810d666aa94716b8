import OnesheetCore

/// What clients of TMDB ask about the titles and lists of the source `tmdb`, behind `/3/`.
enum TMDBAddresses {
    private static let lists = [
        "popular": "movie/popular", "top-rated": "movie/top_rated", "trending": "trending/movie/week", "tv-popular": "tv/popular",
        "tv-trending": "trending/tv/week",
    ]
    private static let titlesOfPage = 20
    /// What a list has not.
    private static let parametersOfTitles: Set<Substring> = [
        "append_to_response", "include_image_language", "include_video_language",
    ]

    /// - Returns: an address for a title, and one for each page of a list; none if TMDB has nothing about it.
    static func of(_ subject: ServiceSubject, with query: String) -> [String] {
        switch subject {
        case .title(let id): return path(of: id).map { ["\($0)?\(query)"] } ?? []
        case .list(let name, let titles):
            let rest = query.pieces(at: "&").filter { !parametersOfTitles.contains($0.cut(at: "=")?.before ?? $0) }
            // A collection has no pages.
            guard let path = lists[name] else { return path(of: name).map { ["\($0)?\(rest.joined(separator: "&"))"] } ?? [] }
            return (1...max(1, (titles + titlesOfPage - 1) / titlesOfPage)).map { page in
                "\(path)?\((rest + ["page=\(page)"]).joined(separator: "&"))"
            }
        }
    }

    /// The path of an id: `550`, `tv-1396`, `tv-1396-s1-e2`, `collection-10`.
    private static func path(of id: String) -> String? {
        let parts = id.pieces(at: "-", omittingEmptySubsequences: false)
        if parts.count == 1 { return digits(in: parts[0]).map { "movie/\($0)" } }
        guard let number = digits(in: parts[1]) else { return nil }
        switch (parts[0], parts.count) {
        case ("movie", 2), ("tv", 2), ("person", 2), ("collection", 2): return "\(parts[0])/\(number)"
        case ("tv", 3...4):
            guard let season = digits(in: parts[2], behind: "s") else { return nil }
            guard parts.count == 4 else { return "tv/\(number)/season/\(season)" }
            return digits(in: parts[3], behind: "e").map { "tv/\(number)/season/\(season)/episode/\($0)" }
        default: return nil
        }
    }

    private static func digits(in text: Substring, behind mark: String = "") -> Substring? {
        guard text.starts(withBytesOf: mark) else { return nil }
        let digits = text.dropFirst(bytes: mark.utf8.count)
        return (1...12).contains(digits.utf8.count) && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? digits : nil
    }
}

public import OnesheetCore

/// A small catalogue of invented films with posters that are in the program: no files, no keys, no network.
public struct SampleSource: SourcePlugin {
    public typealias Configuration = NoConfiguration

    public static let type = "sample"

    public static let sampleConfiguration = """
        # There are no other keys.
        type: sample
        """

    private static let perPage = 12

    public init(_ configuration: NoConfiguration, context: PluginContext) {}

    /// Nothing is fetched, because the posters are in the program.
    public let originPolicy = OriginPolicy(allow: [], networks: [])

    public var asksService: Bool { false }

    public var capabilities: SourceCapabilities {
        SourceCapabilities(periods: [.day], firstDay: SampleFilm.catalogue.compactMap(\.released).min())
    }

    /// Each day has its own list, which never changes: the films in the order of their imagined popularity on that day. Without a
    /// day, it is the catalogue by number, whose pages stay the same.
    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        var films = SampleFilm.catalogue
        if let date = query.date {
            var random = SeededRandom(seed: UInt64(date.year * 400 + date.month * 32 + date.day))
            films = films.filter { $0.released.map { $0 <= date } ?? true }
            films.shuffle(using: &random)
        }
        if let phrase = query.phrase?.lowercased() {
            films = films.filter { $0.name.lowercased().contains(phrase) || $0.koreanName.contains(phrase) }
        }
        let total = films.count
        guard query.page >= 1, query.page - 1 <= total / Self.perPage else { return TitlePage(titles: [], total: total) }
        let first = min((query.page - 1) * Self.perPage, total)
        let page = films[first...].prefix(Self.perPage).enumerated().map { $1.title(rank: first + $0 + 1) }
        return TitlePage(titles: page, total: total, next: first + page.count < total ? query.page + 1 : nil)
    }

    public func title(_ id: String) async throws(SourceError) -> Title { try film(id).title() }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let film = try film(id)
        let place = OriginalLocation.local(name: "sample-poster-\(film.id)-v2") { film.poster() }
        return [PosterCandidate(place, width: film.width, height: film.height, site: "Onesheet")]
    }

    private func film(_ id: String) throws(SourceError) -> SampleFilm {
        guard let film = SampleFilm.catalogue.first(where: { $0.id.isExactly(id) }) else { throw .notFound(id: id) }
        return film
    }
}

/// Reproducible pseudorandom numbers (SplitMix64: Steele, Lea and Flood, “Fast splittable pseudorandom number generators”, OOPSLA
/// 2014).
private struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

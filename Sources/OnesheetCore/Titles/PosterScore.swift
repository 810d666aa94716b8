/// Estimates how much a search hit looks like a film poster, before it is fetched.
///
/// A search sorts by relevance of words, and its first hit is often a photo of the actors. Shape is the best sign of a poster:
/// one-sheets are 27 × 40 inches, Korean ones near B2, and prints and scans deviate a little.
public struct PosterScore: Sendable {
    /// Width by height of a poster.
    static let ratios = 0.64...0.75

    public init() {}

    /// A picture and the kind of its site according to the search: `news`, `blog`, `cafe`.
    public typealias Hit = (candidate: PosterCandidate, kind: String?)

    /// The candidates, best first, each with its trust and without duplicates.
    public func ranked(_ hits: [Hit]) -> [PosterCandidate] {
        var seen: Set<ExactText> = []
        let candidates = hits.enumerated().filter { seen.insert(ExactText($0.element.candidate.location.name)).inserted }
            .map { position, hit in
                var candidate = hit.candidate
                // The order of the search decides between equals: a hundred places count as much as a slightly wrong shape.
                candidate.trust = site(hit) * max(0.1, 1 - 0.002 * Double(position))
                return candidate
            }
        return candidates.sorted { score($0) > score($1) }
    }

    /// From 0, unlikely, to about 1.
    public func score(_ candidate: PosterCandidate) -> Double { shape(candidate) * size(candidate) * (candidate.trust ?? 1) }

    /// 1 within the ratios, less with the distance from them. A picture of unknown shape ranks before a square one.
    public func shape(_ candidate: PosterCandidate) -> Double {
        guard let width = candidate.width, let height = candidate.height, width > 0, height > 0 else { return 0.25 }
        let ratio = Double(width) / Double(height)
        let excess = ratio < Self.ratios.lowerBound ? Self.ratios.lowerBound / ratio : max(1, ratio / Self.ratios.upperBound)
        // A quarter off gives 0.5, a wide photo almost 0.
        let away = (excess - 1) / 0.25
        return 1 / (1 + away * away)
    }

    /// 1 from 600 × 900 pixels on, less below: a poster too small for the largest size is still a poster.
    public func size(_ candidate: PosterCandidate) -> Double {
        guard let width = candidate.width, let height = candidate.height else { return 0.5 }
        let part = Double(width) * Double(height) / (600 * 900)
        return part >= 1 ? 1 : 0.4 + 0.6 * max(0, part).squareRoot()
    }

    /// Film sites show posters; news sites show scenes and people.
    func site(_ hit: Hit) -> Double {
        let place = "\(hit.candidate.site ?? "") \(hit.candidate.page ?? "")".lowercased()
        if Self.filmSites.contains(where: place.contains) { return 1 }
        switch hit.kind {
        case "news": return 0.6
        case "cafe": return 0.85
        default: return 0.9
        }
    }

    private static let filmSites = [
        "movie.daum.net", "movie.naver.com", "kobis.or.kr", "cgv.co.kr", "megabox.co.kr", "lottecinema.co.kr", "themoviedb.org",
        "imdb.com", "watcha.com", "kinolights.com", "영화",
    ]
}

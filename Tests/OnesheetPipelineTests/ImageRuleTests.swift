import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// The rule of the choice, against a truth that is told in another way.
final class ImageRuleTests: XCTestCase {
    /// A list, the original language, and all languages of the truth set from the best group to the worst. `nil` is no language.
    private typealias Preference = (list: String, original: String?, groups: [[String?]])

    private static let preferences: [Preference] = [
        ("ko.original.en.none", "ja", [["ko"], ["ja"], ["en", "en-GB"], [nil]]),
        ("ko.original.en.none", "fr-CA", [["ko"], ["fr-CA"], ["fr"], ["en", "en-GB"], [nil]]),
        ("ko.original.en.none", nil, [["ko"], ["en", "en-GB"], [nil]]),
        ("pt-BR.en", nil, [["pt-BR"], ["pt"], ["pt-PT"], ["en", "en-GB"]]),
        ("pt-BR.en.pt-PT", nil, [["pt-BR"], ["pt"], ["en", "en-GB"], ["pt-PT"]]),
        ("pt", nil, [["pt", "pt-BR", "pt-PT"]]),
        ("zh-Hans.en", nil, [["zh-CN"], ["zh"], ["en", "en-GB"]]),
        ("zh-Hant.zh-Hans", nil, [["zh-TW", "zh-Hant"], ["zh"], ["zh-CN"]]),
        ("zh", nil, [["zh", "zh-TW", "zh-CN", "zh-Hant"]]),
        ("none.fr", nil, [[nil], ["fr", "fr-CA"]]),
        ("en-GB.none", nil, [["en-GB"], ["en"], [nil]]),
    ]
    private static let languages: [String?] = [
        nil, "ko", "ja", "en", "en-GB", "pt", "pt-BR", "pt-PT", "zh", "zh-CN", "zh-TW", "zh-Hant", "fr", "fr-CA", "de", "und",
    ]

    func testChoiceIsTheRuleForThousandsOfTitles() throws {
        var random = SplitMix(seed: 46)
        for number in 0..<3000 {
            // Given a title with images of some languages and kinds, gaps, equal votes and a lying order
            let candidates = try Self.candidates(of: number, &random)
            for preference in Self.preferences {
                let rule = ImageRule(
                    .poster, in: try LanguageList(preference.list), original: preference.original.flatMap { LanguageTag($0) })
                // When they are ranked, also as an answer in another order
                let best = rule.ranked(candidates).first?.candidate
                let again = rule.ranked(candidates.shuffled(using: &random)).first?.candidate
                // Then the best is the one of the truth
                let expected = Self.best(of: candidates, by: preference)
                XCTAssertEqual(best?.location.name, expected?.location.name, "title \(number), \(preference.list)")
                XCTAssertEqual(again?.location.name, expected?.location.name, "title \(number), \(preference.list), shuffled")
            }
        }
    }

    private static func candidates(of title: Int, _ random: inout SplitMix) throws -> [PosterCandidate] {
        var candidates: [PosterCandidate] = []
        for number in 0..<Int.random(in: 0...14, using: &random) {
            var candidate = PosterCandidate(.http(url: "http://a.example/\(title)/\(number * 7919 % 15)"))
            candidate.kind = Int.random(in: 0..<4, using: &random) == 0 ? .logo : .poster
            candidate.language = languages.randomElement(using: &random).flatMap { $0 }.flatMap { LanguageTag($0) }
            candidate.votes = [0, 3.334, 5.0, 5.0, 5.3, 8, 10].randomElement(using: &random)
            candidate.voteCount = candidate.votes == 0 ? 0 : [1, 3, 3, 20].randomElement(using: &random)
            candidate.width = [nil, 300, 500, 779, 780, 2000].randomElement(using: &random).flatMap { $0 }
            candidates.append(candidate)
        }
        // At least one has votes, so that an order of the source says nothing.
        if let first = candidates.indices.first { (candidates[first].votes, candidates[first].voteCount) = (5, 3) }
        for index in candidates.indices.prefix(1) { candidates[index].kind = .poster }
        return candidates
    }

    /// The best poster: group by group, with votes in whole numbers, one comparison after another.
    private static func best(of candidates: [PosterCandidate], by preference: Preference) -> PosterCandidate? {
        let posters = candidates.filter { $0.kind == .poster }
        let listed = preference.groups.map { group in
            posters.filter { candidate in group.contains { $0 == candidate.language?.description } }
        }
        var rest = listed.first { !$0.isEmpty } ?? posters
        func keep(_ value: (PosterCandidate) -> Int) {
            let most = rest.map(value).max() ?? 0
            rest.removeAll { value($0) < most }
        }
        // Tenths of (votes × count + 3 × 4) / (count + 4).
        keep { Int((($0.votes ?? 0) * Double($0.voteCount ?? 0) * 10 + 120) / Double(($0.voteCount ?? 0) + 4) + 0.5) }
        keep { min($0.width ?? 780, 780) }
        return rest.min { Array($0.location.name.utf8).lexicographicallyPrecedes(Array($1.location.name.utf8)) }
    }

    func testOrderOfASourceThatSaysNeitherLanguagesNorVotesStays() throws {
        // Given images of different sizes, without languages and votes
        let candidates = [300, 2000, 100].map { (width: Int) in
            PosterCandidate(.http(url: "http://a.example/\(width)"), width: width, height: 900)
        }
        for list in [nil, try LanguageList("ko.none")] {
            // When they are ranked
            let ranked = ImageRule(.poster, in: list).ranked(candidates)
            // Then nothing has changed, and nothing is said
            XCTAssertEqual(ranked.map(\.candidate.width), [300, 2000, 100])
            XCTAssertEqual(ranked.map(\.reasons), [[], [], []])
        }
    }

    func testOrderOfTheSourceDecidesWithoutVotes() throws {
        // Given two English images without votes
        var candidates = ["z", "a"].map { PosterCandidate(.http(url: "http://a.example/\($0)")) }
        for index in candidates.indices { candidates[index].language = LanguageTag("en") }
        // When they are ranked
        let ranked = ImageRule(.poster, in: try LanguageList("en")).ranked(candidates)
        // Then the first stays the first
        XCTAssertEqual(ranked.map(\.candidate.location.name), ["http://a.example/z", "http://a.example/a"])
    }

    func testOneEnthusiastDoesNotOutvoteMany() {
        // Given an image with one vote of ten, one with fifty of 5.5, and one without votes
        func image(_ name: String, _ votes: Double?, _ count: Int?) -> PosterCandidate {
            var candidate = PosterCandidate(.http(url: "http://a.example/\(name)"))
            (candidate.votes, candidate.voteCount) = (votes, count)
            return candidate
        }
        let candidates = [image("none", nil, nil), image("one", 10, 1), image("many", 5.5, 50), image("bad", 1, 20)]
        // When they are ranked
        let ranked = ImageRule(.poster, in: nil).ranked(candidates)
        // Then the many win, and no vote is better than bad ones
        XCTAssertEqual(ranked.map { $0.candidate.location.name.last }, ["y", "e", "e", "d"])
        XCTAssertEqual(
            ranked[0].reasons, ["no language", "5.5 of 50 votes counts as 5.31", "width unknown"])
        XCTAssertEqual(ranked[2].reasons, ["no language", "no votes, which counts as 3.0", "width unknown"])
    }

    func testReasonsNameTheEntryOfTheList() throws {
        // Given a poster in another region's language
        var candidate = PosterCandidate(.http(url: "http://a.example/1"), width: 500)
        candidate.language = LanguageTag("pt-PT")
        // When it is ranked
        let reasons = ImageRule(.poster, in: try LanguageList("pt-BR.en")).ranked([candidate])[0].reasons
        // Then the reasons say so
        XCTAssertEqual(
            reasons,
            [
                "language pt-PT, another region of “pt-BR”, number 1 of pt-BR.en", "no votes, which counts as 3.0",
                "500 of 780 pixels wide",
            ])
    }

    func testBackgroundsHaveNoWordsUnlessTheRequestSaysSo() throws {
        let configured = try LanguageList("ko.en")
        XCTAssertEqual(ImageRule.languages(of: .poster, configured: configured), configured)
        XCTAssertEqual(ImageRule.languages(of: ImageSelector(.backdrop), configured: configured), .textless)
        XCTAssertEqual(ImageRule.languages(of: ImageSelector(.backdrop, in: configured), configured: nil), configured)
        XCTAssertNil(ImageRule.languages(of: ImageSelector(.logo), configured: nil))
    }
}

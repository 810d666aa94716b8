internal import FoundationEssentials
package import OnesheetCore

/// How likely a title of another source is the same film: the product of three factors, from 0 to 1.
///
/// | factor | same | near | unknown | other |
/// |---|---|---|---|---|
/// | title: the best pair of names and original names | 1 | 0.8, one has a subtitle more | | 0.9 × similarity² |
/// | year of release or production | 1 | 0.9, one apart; 0.5, two apart | 0.8 | 0.2 |
/// | director | 1 | | 0.95 | 0.4 |
///
/// The similarity of two names is the share of their pairs of neighbouring letters that both have (Dice's coefficient). Only letters and
/// digits count, in any case. Directors are compared if both sides write one in the same script, because a Korean name and its
/// transliteration cannot be.
package struct TitleMatch: Sendable, Equatable {
    package let title: Title
    package let score: Double
    /// Why, in words.
    package let words: String

    /// The least score that is believed by default: the same title needs a year that is at most one apart, or two unknown facts.
    package static let leastScore = 0.7

    /// The match with the highest score; `nil` if it is below `least`, or if two titles have it: then either may be wrong.
    package static func best(of titles: [Title], for wanted: Title, atLeast least: Double = leastScore) -> TitleMatch? {
        var seen: Set<ExactText> = []
        let matches = titles.filter { seen.insert(ExactText($0.id)).inserted }.map { TitleMatch($0, for: wanted, atLeast: least) }
        guard let best = matches.max(by: { $0.score < $1.score }), best.score >= least,
            matches.filter({ $0.score == best.score }).count == 1
        else { return nil }
        return best
    }

    package init(_ title: Title, for wanted: Title, atLeast least: Double = leastScore) {
        let factors = [
            Self.names(title.names, wanted.names), Self.years(title.years, wanted.years),
            Self.directors(title.directors, wanted.directors),
        ]
        let score = (factors.reduce(1) { $0 * $1.value } * 100).rounded() / 100
        self.title = title
        self.score = score
        words = "\(factors.map(\.words).joined(separator: ", ")): \(score) of at least \(least)"
    }

    private typealias Factor = (value: Double, words: String)

    private static func names(_ one: [String], _ other: [String]) -> Factor {
        let value = one.flatMap { name in other.map { similarity(name, $0) } }.max() ?? 0
        return (value, value == 1 ? "same title" : value == 0.8 ? "title with a subtitle" : "similar title")
    }

    private static func similarity(_ one: String, _ other: String) -> Double {
        let (left, right) = (letters(one), letters(other))
        guard !left.isEmpty, !right.isEmpty else { return 0 }
        if left == right { return 1 }
        // Two different subtitles are two films.
        if beforeSubtitle(other) == left || beforeSubtitle(one) == right { return 0.8 }
        let (pairs, others) = (self.pairs(left), self.pairs(right))
        guard !pairs.isEmpty, !others.isEmpty else { return 0 }
        let dice = 2 * Double(pairs.intersection(others).count) / Double(pairs.count + others.count)
        // Less than a subtitle more, which is a stated difference.
        return min(0.9 * dice * dice, 0.79)
    }

    /// Letters and digits, of which long names need no more than a thousand.
    private static func letters(_ name: some StringProtocol) -> String {
        name.prefix(1000).lowercased().filter { $0.isLetter || $0.isNumber }
    }

    private static func beforeSubtitle(_ name: String) -> String {
        letters(name.prefix { !":(–—：".contains($0) })
    }

    private static func pairs(_ text: String) -> Set<String> {
        Set(zip(text, text.dropFirst()).map { "\($0)\($1)" })
    }

    private static func years(_ one: [Int], _ other: [Int]) -> Factor {
        guard let apart = one.flatMap({ year in other.map { abs($0 - year) } }).min() else { return (0.8, "year unknown") }
        return switch apart {
        case 0: (1, "same year")
        case 1: (0.9, "a year apart")
        case 2: (0.5, "two years apart")
        default: (0.2, "\(apart) years apart")
        }
    }

    private static func directors(_ one: [String], _ other: [String]) -> Factor {
        let (left, right) = (Set(one.map(person)), Set(other.map(person)))
        if !left.isDisjoint(with: right) { return (1, "same director") }
        func scripts(_ names: Set<String>) -> Set<Bool> { Set(names.map { $0.utf8.allSatisfy { $0 < 0x80 } }) }
        return scripts(left).isDisjoint(with: scripts(right)) ? (0.95, "director unknown") : (0.4, "another director")
    }

    /// A name without the order of its parts: “BONG Joon-ho” is “Joon Ho Bong”.
    private static func person(_ name: String) -> String {
        name.lowercased().split { !$0.isLetter }.sorted().joined(separator: " ")
    }
}

extension Title {
    fileprivate var names: [String] { [name, originalName].compactMap { $0 } }

    /// Those of the release and, under the usual names, of the production.
    fileprivate var years: [Int] {
        let stated = ["year", "prdtYear"].compactMap { key -> Int? in
            if case .integer(let year)? = metadata[key] { year } else { nil }
        }
        return [releaseDate?.year].compactMap { $0 } + stated.filter { $0 > 0 }
    }

    fileprivate var directors: [String] { ["director", "directors"].flatMap { metadata[$0]?.texts ?? [] } }
}

extension JSONValue {
    /// The texts in it; those of an object are the spellings of a name.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): text.split(separator: ",").map { String($0) }
        case .array(let members): members.flatMap(\.texts)
        case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.texts)
        default: []
        }
    }
}

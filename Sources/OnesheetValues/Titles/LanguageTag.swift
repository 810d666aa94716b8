/// A language tag (BCP 47, RFC 5646), such as `ko`, `pt-BR` or `zh-Hant`, in its canonical spelling: `PT-br` is `pt-BR`, `eng` is `en`,
/// and `iw` is `he`.
public struct LanguageTag: Hashable, Sendable, LosslessStringConvertible {
    public let description: String
    /// The primary language, in lower case.
    public let language: String
    /// The script, such as `Hant`, if the tag names one or its region tells it.
    package let script: String?
    /// The region, such as `BR` or `419`.
    public let region: String?

    /// The language of something with an unknown language (ISO 639-2).
    public static let undetermined = LanguageTag(language: "und")

    /// The longest tag that RFC 5646 §4.4.1 asks to accept.
    private static let longest = 35

    /// Parses a well-formed tag: a language with an optional script, region, variants and extensions. Private and grandfathered tags, which
    /// name no language, are none.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        var rest = text.lowercasedASCII().pieces(at: "-", omittingEmptySubsequences: false)[...]
        func next(_ isNext: (Substring) -> Bool) -> String? {
            guard let first = rest.first, isNext(first) else { return nil }
            rest.removeFirst()
            return String(first)
        }
        // Languages of four letters and more are not registered.
        guard var language = next({ (2...3).contains($0.utf8.count) && $0.isLetters }) else { return nil }
        language = LanguageNames.short[language] ?? language
        // An extended language stands for itself: zh-yue is yue.
        if LanguageNames.extended.contains(language), let own = next({ $0.utf8.count == 3 && $0.isLetters }) { language = own }
        language = LanguageNames.preferred[language] ?? language
        let script = next { $0.utf8.count == 4 && $0.isLetters }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let region = next { ($0.utf8.count == 2 && $0.isLetters) || ($0.utf8.count == 3 && $0.isDigits) }?.uppercased()
        var tail: [String] = []
        while let variant = next({
            $0.isLettersAndDigits && ((5...8).contains($0.utf8.count) || ($0.utf8.count == 4 && $0.prefix(1).isDigits))
        }) {
            tail.append(variant)
        }
        var isPrivate = false
        while let singleton = next({ $0.utf8.count == 1 && $0.isLettersAndDigits }) {
            isPrivate = isPrivate || singleton == "x"
            let least = isPrivate ? 1 : 2
            guard let first = next({ (least...8).contains($0.utf8.count) && $0.isLettersAndDigits }) else { return nil }
            tail += [singleton, first]
            while let more = next({ (least...8).contains($0.utf8.count) && $0.isLettersAndDigits }) { tail.append(more) }
        }
        guard rest.isEmpty else { return nil }
        self.language = language
        self.region = region
        self.script = script ?? region.flatMap { LanguageNames.scripts[Self.family(of: language)]?[$0] }
        description = ([language] + [script, region].compactMap { $0 } + tail).joined(separator: "-")
    }

    private init(language: String) {
        (self.language, script, region, description) = (language, nil, nil, language)
    }

    public static func == (left: Self, right: Self) -> Bool { left.description == right.description }
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }

    private static func family(of language: String) -> String { LanguageNames.families[language] ?? language }

    /// How far an image in `tag` is from what someone wants who wants this language: 0 for the language as it is wanted, 1 if `tag` does not
    /// say which region or script it is, 2 for another region. `nil` for another language, or for another script of it.
    ///
    /// That is the lookup of RFC 4647 §3.4 from the most exact tag to the language alone, and as its last step the same language in another
    /// region: a Portuguese poster serves a Brazilian better than an English one.
    package func distance(to tag: LanguageTag) -> Int? {
        let family = Self.family(of: language)
        guard family == Self.family(of: tag.language), language != Self.undetermined.language else { return nil }
        if let script, let other = tag.script, script != other { return nil }
        if language != tag.language, language != family { return tag.language == family ? 1 : 2 }
        if let region, region != tag.region { return tag.region == nil ? 1 : 2 }
        return script != nil && tag.script == nil ? 1 : 0
    }
}

extension LanguageTag: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let tag = LanguageTag(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a language tag such as ko or pt-BR")
        }
        self = tag
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension LanguageTag {
    /// What the field of a database says about the language of an image.
    package enum Statement: Equatable {
        case tag(LanguageTag)
        /// The image has no words, or the field is empty.
        case textless
        /// The field says something that is not a language.
        case unreadable
    }

    /// Reads the field of a database, with the words that some have for no language. An absent field is empty.
    package static func statement(_ text: String?) -> Statement {
        let text = (text ?? "").lowercasedASCII().map { $0 == "_" ? "-" : $0 }
        let (language, rest) = Substring(String(text)).cut(at: "-") ?? (Substring(String(text)), "")
        if ["", "xx", "zxx", "00", "null"].contains(language) { return .textless }
        // Cantonese at TMDB.
        let tag = (language == "cn" ? "yue" : language) + (rest.isEmpty ? "" : "-" + rest)
        return LanguageTag(String(tag)).map(Statement.tag) ?? .unreadable
    }
}

extension StringProtocol {
    fileprivate var isLetters: Bool { utf8.allSatisfy { (0x61...0x7A).contains($0) } }
    fileprivate var isDigits: Bool { utf8.allSatisfy { (0x30...0x39).contains($0) } }
    fileprivate var isLettersAndDigits: Bool { utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) } }
}

import OnesheetCore

/// A question to TMDB's API in canonical form, so that questions with the same meaning are one: without the client's key, with known
/// parameters in one order and spelling.
struct TMDBQuestion {
    /// The segments of the path behind `/3/`.
    let path: [String]
    /// Path and query behind the base URL.
    let target: String

    private static let longestPath = 256
    private static let longestQuery = 4096
    private static let mostParameters = 64

    /// What belongs to an account or a session, of which this server has none.
    private static let accounts: Set<String> = ["account", "authentication", "guest_session"]
    private static let accountParts: Set<String> = ["account_states", "rating", "item_status", "clear", "add_item", "remove_item"]

    /// - Parameter address: what follows `/3/`, with the query.
    /// - Throws: `RequestError` for what belongs to an account, and for what is no path of TMDB.
    init(_ address: Substring) throws(RequestError) {
        let (path, query) = address.cut(at: "?") ?? (address, "")
        guard path.utf8.count <= Self.longestPath else { throw .noSuchPath("/3/\(String(path).shortened(to: Self.longestPath))") }
        guard query.utf8.count <= Self.longestQuery else {
            throw .malformed("the query has more than \(Self.longestQuery) bytes")
        }
        let segments = path.pieces(at: "/", omittingEmptySubsequences: false)
        guard segments.allSatisfy(Self.isSegment) else { throw .noSuchPath("/3/\(path)") }
        // `/3/movie/550-fight-club` is `/3/movie/550`.
        self.path = segments.map { segment in
            let digits = segment.prefix { ("0"..."9").contains($0) }
            return String(!digits.isEmpty && segment.dropFirst(bytes: digits.utf8.count).first == "-" ? digits : segment)
        }
        let words = self.path.map { $0.lowercasedASCII() }
        guard !Self.accounts.contains(words[0]), !words.dropFirst().contains(where: Self.accountParts.contains) else {
            throw Self.noAccounts
        }
        let parameters = try Self.parameters(query)
        target = "/\(self.path.joined(separator: "/"))" + (parameters.isEmpty ? "" : "?\(parameters)")
    }

    private static var noAccounts: RequestError {
        .forbidden("this mirror of TMDB has no accounts and sessions: it answers what TMDB tells everyone")
    }

    private static func isSegment(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: ".") else { return false }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || "-_.".utf8.contains($0)
        }
    }

    /// The known parameters, sorted, without those that say what holds anyway. TMDB ignores the others.
    private static func parameters(_ query: Substring) throws(RequestError) -> String {
        let pairs = query.pieces(at: "&")
        guard pairs.count <= mostParameters else { throw .malformed("the query has more than \(mostParameters) parameters") }
        var values: [String: String] = [:]
        for pair in pairs {
            let (name, value) = pair.cut(at: "=") ?? (pair, "")
            let key = try decoded(name)
            guard let kind = Kind(of: key) else { continue }
            let text = try decoded(value)
            // Only a phrase may have them. Elsewhere they are a second query in the first, whose key would be part of a value.
            guard kind == .phrase || !text.utf8.contains(where: "?&=;#".utf8.contains) else {
                throw .malformed("the value of “\(key)” has one of ?&=;#")
            }
            // The last one counts.
            values[key] = kind.canonical(text)
        }
        let appended = (values["append_to_response"] ?? "").lowercasedASCII().split { $0 == "," || $0 == "/" }.map(String.init)
        guard accountParts.isDisjoint(with: appended) else { throw noAccounts }
        return values.filter { $0.key == "query" || !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }

    private static func decoded(_ text: Substring) throws(RequestError) -> String {
        try PercentEncoding.decode(text.replacing(bytesOf: "+", with: "%20"))
    }
}

/// How the value of a parameter is written.
private enum Kind {
    /// A phrase, in which spaces and the case of letters are no difference.
    case phrase
    case language
    /// A list of words whose order is no difference.
    case set
    case country
    case page
    /// A truth value that is false without the parameter.
    case flag
    case word
    /// An expression of `discover`, or a text.
    case text

    private static let known: [String: Kind] = [
        "query": .phrase, "language": .language, "append_to_response": .set, "include_image_language": .set,
        "include_video_language": .set, "page": .page, "include_adult": .flag, "include_video": .flag,
        "include_null_first_air_dates": .flag, "screened_theatrically": .flag, "external_source": .word, "sort_by": .word,
        "region": .country, "watch_region": .country, "certification_country": .country, "country": .country,
        "certification": .text, "year": .text, "primary_release_year": .text, "first_air_date_year": .text, "timezone": .text,
        "start_date": .text, "end_date": .text,
    ]

    /// - Returns: `nil` if TMDB knows no such parameter, or it names a client.
    init?(of name: String) {
        let isFilter =
            ["with_", "without_"].contains { name.starts(withBytesOf: $0) }
            || [".gte", ".lte"].contains { name.ends(withBytesOf: $0) }
        let isName =
            name.utf8.count <= 40 && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || "_.".utf8.contains($0) }
        guard let kind = Self.known[name] ?? (isFilter && isName ? .text : nil) else { return nil }
        self = kind
    }

    func canonical(_ value: String) -> String {
        let value = value.split { $0.isWhitespace }.joined(separator: " ")
        return switch self {
        case .phrase: value.lowercasedASCII()
        case .language: Self.language(value)
        case .set:
            Set(value.split(separator: ",").map { Self.language($0.filter { !$0.isWhitespace }) }.filter { !$0.isEmpty }).sorted()
                .joined(separator: ",")
        case .country: value.uppercased()
        case .page: value.utf8.count <= 9 ? Int(value).map { $0 == 1 ? "" : "\($0)" } ?? value : value
        case .flag: value.lowercasedASCII() == "false" ? "" : value.lowercasedASCII()
        case .word: value.lowercasedASCII()
        case .text: value
        }
    }

    /// `de-de` as `de-DE`. Any other text stays as it is.
    private static func language(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let letters = bytes.filter { (0x41...0x5A).contains($0 & 0xDF) }.count
        switch (bytes.count, letters) {
        case (2, 2): return text.lowercasedASCII()
        case (5, 4) where bytes[2] == UInt8(ascii: "-"):
            return "\(text.prefix(2).lowercasedASCII())-\(text.suffix(2).uppercased())"
        default: return text
        }
    }
}

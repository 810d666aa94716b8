import OnesheetCore

/// Removes secrets from recordings: the values of environment variables that the configuration uses, and the values of URL
/// parameters with names such as `token`.
struct Redaction: Sendable {
    static let placeholder = "REDACTED"
    private static let names: Set<String> = [
        "key", "api_key", "apikey", "api-key", "token", "access_token", "auth", "secret", "password", "signature", "sig",
    ]

    private let secrets: [String]

    /// - Parameter secrets: values from the environment. Values shorter than four bytes are ignored, because they would match
    ///   everywhere.
    init(secrets: [String]) {
        let long = secrets.filter { $0.utf8.count >= 4 }
        // Longest first, because one secret may contain another.
        self.secrets = (long + long.map { PercentEncoding.encode($0) }).sorted { $0.utf8.count > $1.utf8.count }
    }

    /// A URL without secrets. Recordings are filed under it.
    func url(_ url: String) -> String {
        guard let (address, pairs) = url.cut(at: "?") else { return text(url) }
        let query = pairs.pieces(at: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.cut(at: "=")?.before ?? pair
            return Self.names.contains(name.lowercased()) ? "\(name)=\(Self.placeholder)" : text(String(pair))
        }
        return text(String(address)) + "?" + query.joined(separator: "&")
    }

    /// A text without the secrets. Matches bytes, so that a combining mark after a secret does not hide it.
    func text(_ text: String) -> String { secrets.reduce(text) { $0.replacing(bytesOf: $1, with: Self.placeholder) } }

    /// A response's header fields without secrets and cookies.
    func fields(_ fields: [String: String]) -> [String: String] {
        fields.filter { $0.key != "set-cookie" }.mapValues(text)
    }
}

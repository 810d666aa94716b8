import OnesheetCore

/// Takes secrets out of what is written down: values that the configuration got from the environment, wherever they stand, and the
/// values of parameters whose names say that they are secret.
struct Redaction: Sendable {
    static let mark = "REDACTED"
    private static let names: Set<String> = [
        "key", "api_key", "apikey", "api-key", "token", "access_token", "auth", "secret", "password", "signature", "sig",
    ]

    private let secrets: [String]

    /// - Parameter secrets: values from the environment. Very short ones would be found everywhere and are left alone.
    init(secrets: [String]) {
        let long = secrets.filter { $0.utf8.count >= 4 }
        // The longest first: one may be a part of another.
        self.secrets = (long + long.map { PercentEncoding.encode($0) }).sorted { $0.utf8.count > $1.utf8.count }
    }

    /// A URL without secrets: what an answer is filed under.
    func url(_ url: String) -> String {
        guard let (address, pairs) = url.cut(at: "?") else { return text(url) }
        let query = pairs.pieces(at: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.cut(at: "=")?.before ?? pair
            return Self.names.contains(name.lowercased()) ? "\(name)=\(Self.mark)" : text(String(pair))
        }
        return text(String(address)) + "?" + query.joined(separator: "&")
    }

    /// A text without the environment's values, wherever their bytes stand: a combining mark behind one does not keep it.
    func text(_ text: String) -> String { secrets.reduce(text) { $0.replacing(bytesOf: $1, with: Self.mark) } }

    /// An answer's fields without secrets; a cookie is one.
    func fields(_ fields: [String: String]) -> [String: String] {
        fields.filter { $0.key != "set-cookie" }.mapValues(text)
    }
}

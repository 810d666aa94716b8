import OnesheetCore

/// The keys of `cors`: pages of which origins may read answers (the Fetch standard). Any page may show pictures in any case.
package struct CORSConfiguration: Sendable, Decodable {
    /// Such as `https://app.example.com`, or `*` for all; none where nothing is said.
    package var origins: [String] = []

    private enum CodingKeys: CodingKey { case origins }

    package init(origins: [String] = []) { self.origins = origins }

    package init(from decoder: any Decoder) throws {
        origins = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent([String].self, forKey: .origins) ?? []
        if let bad = origins.first(where: { !Self.isOrigin($0) }) {
            throw ConfigurationError(
                path: "cors.origins",
                message: "“\(bad)” is not an origin as browsers send it, such as https://app.example.com or http://localhost:3000")
        }
    }

    /// Scheme, host and perhaps a port in lower case, and nothing behind them.
    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        return text.wholeMatch(of: /https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?/) != nil
    }
}

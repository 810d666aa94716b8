package import OnesheetCore

/// The keys of `cors`: the origins whose pages may read responses (the Fetch standard). Any page may embed images.
package struct CORSConfiguration: Sendable, ConfigurationSection {
    package var origins: [String] = []

    package init() {}

    package init(origins: [String]) { self.origins = origins }

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "origins", \.origins,
                meaning: "origins whose pages may read responses, such as `https://app.example.com`; `*` allows all")
        ]
    }

    package func check() throws(ConfigurationError) {
        if let bad = origins.first(where: { !Self.isOrigin($0) }) {
            throw ConfigurationError(
                path: "cors.origins",
                message: "“\(bad)” is not an origin as browsers send it, such as https://app.example.com or http://localhost:3000")
        }
    }

    /// Whether `text` is `*`, or a lower-case scheme, a host and an optional port with nothing after them.
    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        return text.wholeMatch(of: /https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?/) != nil
    }
}

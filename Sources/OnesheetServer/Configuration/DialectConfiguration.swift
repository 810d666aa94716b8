package import OnesheetCore

/// A dialect and the place of its addresses: `thumbor`, `{ thumbor: / }`, or `{ thumbor: { at: /, baseURL: "https://images.example/" } }`.
/// Further keys are those of the dialect.
package struct DialectConfiguration: SettingValue, Sendable, Equatable {
    /// The name of the server's own grammar. Its addresses are at `/i/`, and in this list also at the root.
    package static let imgproxy = "imgproxy"

    package var name: String
    /// Whether its addresses are at the root instead of its own prefix.
    package var isAtRoot = false
    /// The beginning of all source URLs without a scheme; empty if there is none.
    package var baseURL = ""
    /// The dialect's own keys.
    package var own: [String: ConfigurationValue] = [:]

    /// A value of the mapping, without the dialect's own keys.
    struct Place: Decodable {
        static let keys = ["at", "baseURL"]

        var at: String?
        var baseURL: String?
    }

    package init(from decoder: any Decoder) throws {
        let path = decoder.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        let value = try ConfigurationValue(from: decoder)
        if case .scalar(let name) = value {
            self.name = name
            return
        }
        guard case .mapping(let keys) = value, keys.count == 1, let (name, place) = keys.first else {
            throw ConfigurationError(
                path: path, message: "needs the name of a dialect, or one with its place, such as { imgproxy: / }")
        }
        self.name = name
        do throws(ConfigurationError) { try set(place) } catch { throw error.under("\(path).\(name)") }
    }

    private mutating func set(_ value: ConfigurationValue) throws(ConfigurationError) {
        if case .scalar(let at) = value { return try setPlace(at, at: "") }
        var keys: [String: ConfigurationValue] = [:]
        if case .mapping(let all) = value {
            own = all.filter { !Place.keys.contains($0.key) }
            keys = all.filter { Place.keys.contains($0.key) }
        }
        let place = try ConfigurationDecoder().decode(Place.self, from: own.isEmpty ? value : .mapping(keys))
        if let at = place.at { try setPlace(at, at: "at") }
        if let base = place.baseURL { try setBase(base) }
    }

    private mutating func setPlace(_ place: String, at path: String) throws(ConfigurationError) {
        guard place == "/" else {
            throw ConfigurationError(path: path, message: "“\(place)” is not /, the only place beside the dialect's own")
        }
        isAtRoot = true
    }

    private mutating func setBase(_ base: String) throws(ConfigurationError) {
        guard let scheme = base.cut(at: ":"), TitleReference.isSourceName(scheme.before), scheme.after.hasPrefix("//") else {
            throw ConfigurationError(
                path: "baseURL",
                message: "“\(base)” is not the beginning of a source URL, such as https://images.example/ or art:///")
        }
        baseURL = base
    }

    /// `text`, or the source URL that it means without a scheme. imgproxy joins both as they are.
    func sourceURL(_ text: String) -> String {
        text.firstRange(ofBytesOf: "://") == nil ? baseURL + text : text
    }

    package static var kind: String { "dialect" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        guard isAtRoot || !baseURL.isEmpty || !own.isEmpty else { return .text(name) }
        guard !baseURL.isEmpty || !own.isEmpty else { return .mapping([(name, .text("/"))]) }
        let place: [(String, PrintedValue)] = isAtRoot ? [("at", .text("/"))] : []
        let base: [(String, PrintedValue)] = baseURL.isEmpty ? [] : [("baseURL", .text(baseURL))]
        let keys = own.sorted { $0.key < $1.key }.map { ($0, $1.printed(written?[name]?[$0])) }
        return .mapping([(name, .mapping(place + base + keys))]).withoutSecrets
    }
}

/// A configured dialect with its place.
struct PlacedDialect: Sendable {
    let configuration: DialectConfiguration
    /// `nil` for imgproxy, whose grammar is the server's own.
    let dialect: (any Dialect)?

    /// Whether the addresses of the dialect begin with a signature.
    var isSigned: Bool {
        let sample = dialect?.address(of: TitleReference(source: "sample", id: "1"), as: Transform()) { _ in "signature" }
        return sample?.starts(withBytesOf: "signature/") ?? false
    }
}

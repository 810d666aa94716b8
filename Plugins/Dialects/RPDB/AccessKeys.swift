import OnesheetCore
import OnesheetCrypto

/// One key of the configuration.
struct AccessKey: Decodable, Sendable {
    var key: String
    /// The languages of its images, in order of preference.
    var languages: LanguageList?
    /// The kinds of images that it is for; `nil` is all.
    private var kinds: [String]?
    /// Of the images that all its clients ask for, those in caches too; `nil` is none.
    let limit: RequestLimit?

    private static let usualBurst = 400

    private enum CodingKeys: CodingKey { case key, languages, kinds, requests, burst }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        key = try keys.decode(String.self, forKey: .key)
        kinds = try keys.decodeIfPresent([String].self, forKey: .kinds)
        let rate = try keys.decodeIfPresent(Double.self, forKey: .requests)
        let burst = try keys.decodeIfPresent(Int.self, forKey: .burst)
        if let rate, !rate.isFinite || rate < 0.001 {
            throw DecodingError.dataCorruptedError(
                forKey: .requests, in: keys, debugDescription: "needs a number a second such as 20 or 0.5")
        }
        if let burst, burst < 1 || rate == nil {
            throw DecodingError.dataCorruptedError(
                forKey: .burst, in: keys, debugDescription: "needs “requests” beside it, and at least 1")
        }
        limit = rate.map { RequestLimit(perSecond: $0, burst: burst ?? Self.usualBurst) }
        let names = try keys.decodeIfPresent([String].self, forKey: .languages)
        do throws(RequestError) {
            languages = try names.map { names throws(RequestError) in try LanguageList(names.joined(separator: ".")) }
            for kind in kinds ?? [] { _ = try ImageKind.named(kind) }
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: names == nil ? .kinds : .languages, in: keys, debugDescription: "\(error)")
        }
    }

    func allows(_ kind: ImageKind) -> Bool { kinds?.contains(kind.rawValue) ?? true }
}

/// The keys with which clients may ask. They are secrets.
struct AccessKeys: Sendable {
    private static let length = 8...128

    private let keys: [(digest: Digest, key: AccessKey)]

    var texts: [String] { keys.map(\.key.key) }

    /// - Throws: `ConfigurationError` if there is none, one that an address cannot have, or one twice. It does not name the key.
    init(_ keys: [AccessKey]) throws(ConfigurationError) {
        guard !keys.isEmpty else { throw ConfigurationError(path: "keys", message: "needs at least one key") }
        var known: Set<String> = []
        for (index, entry) in keys.enumerated() {
            let isWord = entry.key.utf8.allSatisfy { $0.isLetterOrDigit || "-_.~".utf8.contains($0) }
            guard isWord, Self.length.contains(entry.key.utf8.count) else {
                throw ConfigurationError(
                    path: "keys.[\(index)].key", message: "a key has 8 to 128 letters, digits, “-”, “_”, “.” and “~”")
            }
            guard known.insert(entry.key).inserted else {
                throw ConfigurationError(path: "keys.[\(index)].key", message: "the key is there twice")
            }
        }
        self.keys = keys.map { (SHA256.hash($0.key.utf8), $0) }
    }

    /// The key that `text` is; `nil` if it is none. Digests have equal lengths and compare in constant time, and all are compared.
    func key(_ text: Substring) -> AccessKey? {
        guard text.utf8.count <= Self.length.upperBound else { return nil }
        let digest = SHA256.hash(text.utf8)
        return keys.filter { $0.digest == digest }.first?.key
    }
}

import NIOCore
import OnesheetCache
package import OnesheetCore
import OnesheetValues

/// The keys that a server makes for itself if strangers can reach it and nothing else limits them. They stay in its folder, in a file that
/// only its owner may read, as lines such as `ONESHEET_ADMIN_TOKEN=…`: the variables of the environment that would give the same keys.
package struct KeptKeys: Sendable {
    /// The file.
    package let path: String

    private static let signing = ["ONESHEET_SIGNING_KEY", "ONESHEET_SIGNING_SALT"]
    private static let names = signing + ["ONESHEET_ADMIN_TOKEN"]

    /// - Parameter folder: that of the cache and the state.
    package init(in folder: String) { path = "\(folder)/keys" }

    /// The keys by the names of their variables; `nil` if none were made.
    /// - Throws: `CacheError` if the file cannot be read, and `ConfigurationError` if it lacks a key.
    package func read() throws -> [String: String]? {
        guard let buffer = try PrivateFile.contents(of: path) else { return nil }
        var keys: [String: String] = [:]
        for line in String(buffer: buffer).split(separator: "\n") {
            guard let (name, value) = line.cut(at: "="), Self.names.contains(String(name)) else { continue }
            keys[String(name)] = String(value)
        }
        if let missing = Self.signing.first(where: { keys[$0]?.isEmpty ?? true }) {
            throw ConfigurationError(
                path: "", message: "\(path) has no \(missing); without the file, the next start makes new keys")
        }
        return keys
    }

    /// Makes keys and keeps them. If another process makes some at the same moment, both use those of the first.
    package func make() throws -> [String: String] {
        let keys = Self.random()
        let text = Self.names.compactMap { name in keys[name].map { "\(name)=\($0)\n" } }.joined()
        guard try !PrivateFile.make(ByteBuffer(string: text), at: path) else { return keys }
        return try read() ?? keys
    }

    /// New keys that nothing keeps.
    package static func random() -> [String: String] {
        var random = SystemRandomNumberGenerator()
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }.hexadecimal)
            })
    }
}

extension KeptKeys {
    /// What a command does about these keys.
    package enum Use: Sendable {
        /// Uses those that are there if the configuration needs them.
        case present
        /// Uses those that are there if the configuration has none: to sign.
        case signing
        /// Makes them if the configuration needs them: a server.
        case needed
        /// The same without keeping them: a check.
        case supposed

        fileprivate var makes: Bool { self == .needed || self == .supposed }
    }
}

extension KeptKeys.Use {
    /// What a reading of the configuration finds.
    package typealias Reading = (configuration: ServerConfiguration, errors: [ConfigurationError])

    /// Reads the configuration, and again if there are kept keys.
    /// - Parameter read: reads the configuration. The kept keys fill variables that it names and, if the flag is set, keys that it lacks.
    package func applied(_ read: (_ kept: [String: String], _ usesThem: Bool) throws -> Reading) throws -> Reading {
        let first = try read([:], false)
        let file = KeptKeys(in: first.configuration.cache.disk.path)
        if let kept = try kept(in: file) {
            let second = try read(kept, false)
            let needs = self == .signing ? second.configuration.signing.hasNoKeys : second.configuration.isOpenToStrangers
            return needs ? try read(kept, true) : second
        }
        guard makes, first.errors.isEmpty, first.configuration.isOpenToStrangers else { return first }
        let supposed = try read(KeptKeys.random(), true)
        // A file that says `keys: []` wants none, and none are made for it.
        guard !supposed.configuration.isOpenToStrangers else { return first }
        var second = self == .needed ? try read(try file.make(), true) : supposed
        second.configuration.notes.append(
            self == .needed
                ? "Made keys that sign addresses, and a token for administration. They are in \(file.path), for its owner only"
                : "The first start makes keys that sign addresses, and a token for administration, in \(file.path)")
        return second
    }

    private func kept(in file: KeptKeys) throws -> [String: String]? {
        do {
            return try file.read()
        } catch let error as CacheError {
            // The folder of another user keeps no command from its work that needs no keys.
            guard !makes else { throw error }
            return nil
        }
    }
}

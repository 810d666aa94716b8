package import OnesheetAddress
package import OnesheetCore

/// The keys of `signing`: signed URLs.
package struct SigningConfiguration: Sendable, ConfigurationSection {
    /// Any of these keys may have signed a URL. The first signs new URLs.
    package var keys: [SigningKey] = []
    /// The keys of thumbor's signatures (`SECURITY_KEY` in thumbor).
    package var thumborKeys: [SecretText] = []
    /// Whether `unsafe` is accepted in place of a signature. Without keys it is always accepted on a loopback address.
    package var unsafe = false
    /// The length of a signature in bytes. Shorter signatures give shorter URLs but are easier to guess.
    package var size = 32
    /// The key of encrypted source URLs.
    package var encryptionKey: SourceEncryption?

    package init() {}

    /// Whether there is no key to sign with.
    package var hasNoKeys: Bool { keys.isEmpty && thumborKeys.isEmpty }

    package static var settings: [Setting<Self>] {
        [
            Setting("keys", \.keys, meaning: "keys and salts"),
            Setting(
                "thumborKeys", \.thumborKeys,
                meaning: "texts that thumbor's clients sign with, its `SECURITY_KEY`; those of `signing.keys` sign for thumbor too"),
            Setting("size", \.size, meaning: "bytes of a signature, 8 to 32"),
            Setting(
                "encryptionKey", \.encryptionKey, defaultText: "none: encrypted source URLs are refused",
                meaning:
                    "key of encrypted source URLs (`/enc/…`) in hexadecimal: 16, 24 or 32 bytes, as `openssl rand -hex 32` prints. Such addresses must be signed"
            ),
            Setting("unsafe", \.unsafe, meaning: "accept `unsafe`, or `insecure` or `_` below `/i/`, in place of a signature"),
        ]
    }

    package func check() throws(ConfigurationError) {
        if encryptionKey != nil, keys.isEmpty {
            throw ConfigurationError(
                path: "signing.encryptionKey", message: "needs signing.keys too: encrypted source URLs must be signed")
        }
        guard (8...32).contains(size) else {
            throw ConfigurationError(
                path: "signing.size", message: "“\(size)” is not 8 to 32 bytes; a shorter signature can be guessed")
        }
        if thumborKeys.contains(where: \.text.isEmpty) {
            throw ConfigurationError(path: "signing.thumborKeys", message: "has an empty key; anyone could sign with it")
        }
    }
}

/// A text that is never printed.
package struct SecretText: SettingValue, Sendable {
    package static let kind = "text"
    package let text: String

    package init(from decoder: any Decoder) throws { text = try String(from: decoder) }

    package func printed(_ written: PrintedValue?) -> PrintedValue { .secret(written) }
}

extension SourceEncryption: SettingValue {
    package static var kind: String { "hexadecimal" }

    package func printed(_ written: PrintedValue?) -> PrintedValue { .secret(written) }
}

extension SigningKey: SettingValue {
    package static var kind: String { "key and salt" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        .mapping([("key", .secret(written?["key"])), ("salt", .secret(written?["salt"]))])
    }

    package static func rows(below path: String) -> [ReferenceRow] {
        [
            ReferenceRow(
                path: "\(path).key", kind: "hexadecimal", defaultText: "required",
                meaning: "as `openssl rand -hex 32` prints it; any pair may have signed a URL, the first signs new ones"),
            ReferenceRow(path: "\(path).salt", kind: "hexadecimal", defaultText: "required", meaning: "the same for its salt"),
        ]
    }
}

extension Signature {
    /// - Parameter needsKey: whether unsigned requests could exceed what the operator intends. A server that only this machine can
    ///   reach, or that allows only presets, needs no key.
    package init(_ configuration: SigningConfiguration, needsKey: Bool) {
        self.init(
            keys: configuration.keys, thumborKeys: configuration.thumborKeys.map { Array($0.text.utf8) }, size: configuration.size,
            acceptsUnsafe: configuration.unsafe || (configuration.hasNoKeys && !needsKey))
    }
}

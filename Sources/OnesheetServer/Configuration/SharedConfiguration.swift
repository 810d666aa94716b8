package import OnesheetCore

/// The keys of `shared`: the backends that several servers share.
package struct SharedConfiguration: Sendable, ConfigurationSection, Equatable {
    package var store: BackendConfiguration?
    package var coordinator: BackendConfiguration?
    package var prefix = "onesheet"
    package var expires = Interval(.seconds(30 * 86_400))
    package var required = false

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("store", \.store, defaultText: "none", meaning: "the store of the shared tier"),
            Setting("coordinator", \.coordinator, defaultText: "none", meaning: "the coordinator of the servers"),
            Setting(
                "prefix", \.prefix, meaning: "beginning of all names in the backends; servers with the same one share everything"),
            Setting("expires", \.expires, meaning: "maximum time that an entry stays in the store"),
            Setting("required", \.required, meaning: "whether the server refuses to start if it cannot use a backend"),
        ]
    }

    package func check() throws(ConfigurationError) {
        let isValid =
            prefix.utf8.count <= 200
            && prefix.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
                guard let first = part.first, Self.isLetterOrDigit(first) else { return false }
                return part.allSatisfy { Self.isLetterOrDigit($0) || "-_.".utf8.contains($0) }
            }
        guard isValid else {
            throw ConfigurationError(
                path: "shared.prefix",
                message: "“\(prefix)” is not a name such as onesheet or posters/onesheet: letters, digits, “-”, “_” and “.”")
        }
        guard expires.duration > .zero else {
            throw ConfigurationError(path: "shared.expires", message: "must be greater than 0, such as 30d")
        }
        guard !required || store != nil || coordinator != nil else {
            throw ConfigurationError(path: "shared.required", message: "requires a store or a coordinator, and there is none")
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

package import OnesheetCore

/// The keys of `fallback`: the images for what does not exist.
package struct FallbackConfiguration: Sendable, ConfigurationSection, Equatable {
    package enum Occasion: String, Sendable, SettingWord {
        package static let noun = "occasion"
        case never
        /// If the address asks for one.
        case asked
        case always
    }

    package var given = Occasion.asked
    package var status = 200
    package var expires = Interval(.seconds(300))
    /// Files by kind of image; a relative path starts at the working directory.
    package var images: [String: String] = [:]

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "given", \.given,
                meaning:
                    "when a client gets an image although there is none: if it asks (`fallback=true` of the dialect `rpdb`), at all addresses but those of media servers, or never"
            ),
            Setting("status", \.status, meaning: "200 or 404"),
            Setting("expires", \.expires, meaning: "how long caches keep it, at most an hour"),
            Setting(
                "images", \.images,
                meaning: "files by kind, such as `{ poster: none.png }`; other kinds are drawn. Read at the start and by a reload"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard [200, 404].contains(status) else {
            throw ConfigurationError(path: "fallback.status", message: "“\(status)” is neither 200 nor 404")
        }
        guard (1...3600).contains(expires.seconds) else {
            throw ConfigurationError(path: "fallback.expires", message: "needs 1s to 1h")
        }
        for kind in images.keys.sorted() {
            do throws(RequestError) { _ = try ImageKind.named(kind) } catch {
                throw ConfigurationError(path: "fallback.images.\(kind)", message: "\(error)")
            }
        }
    }
}

package import OnesheetCore
package import OnesheetImaging

/// The keys of `rendering`: render options, and the codecs' own keys.
package struct RenderingConfiguration: Sendable, ConfigurationSection {
    /// Where pictures are decoded.
    package enum Isolation: String, Sendable, SettingWord {
        /// In processes that reach nothing.
        case process
        /// In the server's own process.
        case thread

        package static var noun: String { "isolation" }
    }

    /// The quality of pictures whose address names none.
    package enum DefaultQuality: String, Sendable, SettingWord {
        case number = "80"
        /// Found for each picture.
        case automatic = "auto"

        package static var noun: String { "default quality" }
    }

    package var quality = DefaultQuality.number
    package var linearLight = true
    package var acceptTruncated = false
    package var deadline = Interval(.seconds(20))
    package var isolation = Isolation.process
    package var watermark: WatermarkConfiguration?
    package var codecs: [String: ConfigurationValue] = [:]

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "quality", \.quality,
                meaning:
                    "the quality of images whose address names none. `auto` finds the smallest file that looks like a JPEG of quality 80, in at most four encodings"
            ),
            Setting(
                "linearLight", \.linearLight,
                meaning:
                    "shrink images in linear light, as eyes do: keeps fine bright details on a dark background"
            ),
            Setting("acceptTruncated", \.acceptTruncated, meaning: "render truncated originals as far as they can be decoded"),
            Setting("deadline", \.deadline, meaning: "maximum time of one render; then 504. A change needs a restart"),
            Setting(
                "isolation", \.isolation,
                meaning:
                    "where images are read and made: in processes that reach no file, no network and no secret (Linux), or in threads of the server"
            ),
            Setting("watermark", \.watermark, defaultText: "none", meaning: "the image for the option `wm`"),
            Setting("codecs", \.codecs, meaning: "a codec's own keys, such as `png: { effort: 9 }`; see its README"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard deadline.duration > .zero else {
            throw ConfigurationError(
                path: "rendering.deadline", message: "must be greater than 0, such as 20s")
        }
    }

    /// Creates a renderer with these options, and reads its watermark.
    /// - Throws: `ConfigurationError` if there is a watermark that cannot be read.
    package func renderer(_ codecs: CodecSet, _ limits: Limits) throws(ConfigurationError) -> Renderer {
        var renderer = Renderer(codecs, limits: limits)
        renderer.resamplesInLinearLight = linearLight
        renderer.acceptsTruncated = acceptTruncated
        renderer.deadline = deadline.duration
        renderer.watermark = try watermark?.image(with: renderer, limits)
        return renderer
    }
}

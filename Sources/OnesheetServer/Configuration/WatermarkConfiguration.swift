import FoundationEssentials
import NIOCore
package import OnesheetCore
import OnesheetCrypto
package import OnesheetImaging

/// The keys of `rendering.watermark`.
package struct WatermarkConfiguration: Sendable, ConfigurationSection, Equatable {
    /// The file of the picture; a relative path starts at the working directory.
    package var path = ""
    package var opacity = 1.0

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "path", \.path, isRequired: true,
                meaning:
                    "image for the option `wm`, best with transparency, of at most 4 million pixels; read at the start and by a reload"
            ),
            Setting("opacity", \.opacity, meaning: "0 to 1, multiplied by the opacity in the address"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard opacity > 0, opacity <= 1 else {
            throw ConfigurationError(path: "rendering.watermark.opacity", message: "“\(opacity)” is not above 0 and at most 1")
        }
    }

    /// Reads and decodes the picture.
    /// - Throws: `ConfigurationError` if it cannot be read or decoded.
    package func image(with renderer: Renderer, _ limits: Limits) throws(ConfigurationError) -> WatermarkImage {
        func failure(_ reason: String) -> ConfigurationError {
            ConfigurationError(path: "rendering.watermark.path", message: "“\(path)” cannot be used: \(reason)")
        }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw failure(ConfigurationFile.reason(error))
        }
        guard bytes.count <= limits.originBytes else { throw failure("it has more than \(limits.originBytes) bytes") }
        // The opacity changes the pixels of variants too.
        let digest = SHA256.hash(bytes + Data("#\(opacity)".utf8)).prefix(8)
        do throws(RenderError) {
            return try renderer.watermark(
                ByteBuffer(bytes: bytes), opacity: opacity,
                digest: digest.hexadecimal)
        } catch {
            throw failure("\(error)")
        }
    }
}

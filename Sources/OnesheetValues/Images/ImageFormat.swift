/// An image format. Codec plugins can add formats.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
    /// Short name, lower case: `jpeg`.
    public let name: String
    /// Media type (IANA): `image/jpeg`.
    public let mediaType: String
    /// File extensions in lower case without the dot, the usual one first.
    public let extensions: [String]
    /// Whether the format supports transparency.
    public let hasAlpha: Bool

    public init(name: String, mediaType: String, extensions: [String], hasAlpha: Bool) {
        precondition(!extensions.isEmpty, "a format has at least one extension")
        self.name = name
        self.mediaType = mediaType
        self.extensions = extensions
        self.hasAlpha = hasAlpha
    }

    public var description: String { name }

    /// Whether every client reads the format.
    package var isReadEverywhere: Bool { self == .jpeg || self == .png }

    public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    public static let jpeg = Self(name: "jpeg", mediaType: "image/jpeg", extensions: ["jpg", "jpeg"], hasAlpha: false)
    public static let png = Self(name: "png", mediaType: "image/png", extensions: ["png"], hasAlpha: true)
    public static let webp = Self(name: "webp", mediaType: "image/webp", extensions: ["webp"], hasAlpha: true)
    public static let gif = Self(name: "gif", mediaType: "image/gif", extensions: ["gif"], hasAlpha: true)
    public static let avif = Self(name: "avif", mediaType: "image/avif", extensions: ["avif"], hasAlpha: true)
    public static let heic = Self(name: "heic", mediaType: "image/heic", extensions: ["heic", "heif"], hasAlpha: true)
    public static let jxl = Self(name: "jxl", mediaType: "image/jxl", extensions: ["jxl"], hasAlpha: true)
    public static let tiff = Self(name: "tiff", mediaType: "image/tiff", extensions: ["tif", "tiff"], hasAlpha: true)
    /// Drawings, which no codec reads: logos are served in it as they are.
    package static let svg = Self(name: "svg", mediaType: "image/svg+xml", extensions: ["svg"], hasAlpha: true)
}

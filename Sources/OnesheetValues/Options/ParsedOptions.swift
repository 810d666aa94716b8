/// What the options of an address say.
public struct ParsedOptions: Sendable, Equatable {
    /// The transform. Its format is `nil` if the options name none.
    public var transform = Transform()
    /// The expiry time of the URL, in seconds since 1970. Not part of the transform or its cache key.
    public var expires: Int?
    /// How a browser shows the image; `nil` leaves it to the browser. Not part of the transform either.
    public var disposition: Disposition?
    /// The image of the title that is meant. Not part of the transform either.
    public var image = ImageSelector.poster
    /// Whether the original is returned as it is. The transform is that of the original then, and no format is negotiated.
    package var isRaw = false
    /// Pixels per point, until the transform is multiplied by it.
    package var devicePixelRatio = 1.0
    /// The options so far, with those of presets.
    package var count = 0
    /// The quality for every format. It overrides the qualities by format.
    package var quality: Quality?

    package enum Quality: Sendable, Equatable {
        case number(Int)
        /// The server finds it.
        case automatic
    }

    package init() {}
}

/// What a server's options may refer to.
package struct OptionGrammar: Sendable {
    /// The formats that can be encoded.
    package let formats: [ImageFormat]
    /// The digest of the server's watermark; `nil` if it has none.
    package let watermark: String?

    package init(formats: [ImageFormat], watermark: String?) {
        self.formats = formats
        self.watermark = watermark
    }

    /// The format with the file extension `text`.
    package func format(_ text: some StringProtocol) throws(RequestError) -> ImageFormat {
        let name = text.lowercasedASCII()
        guard let format = formats.first(where: { $0.extensions.contains(name) }) else {
            throw .unknown(unknownName(String(text), kind: "extension", known: formats.flatMap(\.extensions), listsAll: true))
        }
        return format
    }
}

import OnesheetAddress
import OnesheetCore

/// The size in which a client of a media server wants an image.
///
/// Each client computes it from its screen. The server rounds sides up to one of a few: clients with similar screens share one image, and no
/// client can make the server store thousands. Clients scale what they get.
struct ClientBox {
    /// Neighbours differ by a quarter to a half.
    static let sides = [64, 96, 128, 192, 256, 320, 400, 500, 640, 800, 960, 1280, 1600, 1920, 2560, 3840]
    private static let formats = ["avif", "jpeg", "jpg", "png", "webp"]

    /// 0 for a side that follows from the other.
    private let (width, height): (Int, Int)
    /// Whether the image covers the box; otherwise it fits into it. Nothing is cut off and nothing is enlarged.
    private let covers: Bool

    /// - Parameters:
    ///   - width: the name of the parameter, in lower case.
    ///   - height: the name of the other.
    init(_ query: ClientQuery, width: String, height: String, covers: Bool = false) throws(RequestError) {
        self.width = Self.side(try query.number(query[width], of: width, in: 0...99_999))
        self.height = Self.side(try query.number(query[height], of: height, in: 0...99_999))
        self.covers = covers
    }

    /// Whether it asks for no size.
    var isOpen: Bool { width == 0 && height == 0 }

    private static func side(_ pixels: Int) -> Int {
        pixels == 0 ? 0 : sides.first { $0 >= pixels } ?? sides[sides.count - 1]
    }

    /// The image of a title in this size. Without a size and a format, it is the original as it is.
    /// - Parameter format: as the client writes it; `nil` lets `Accept` select one.
    func image(of title: TitleReference, in format: String?) throws(RequestError) -> DialectImage {
        var options = [(width, "w"), (height, "h")].compactMap { side, name in side == 0 ? nil : "\(name):\(side)" }
        if covers, options.count == 2 { options.insert("resizing_type:cover", at: 0) }
        // Kodi's clients write “original”.
        let format = format.map { $0.lowercasedASCII() }.flatMap { $0 == "original" ? nil : $0 }
        var image = DialectImage(title: title, options: options, negotiates: format == nil && !isOpen, isShared: true)
        if let format {
            guard Self.formats.contains(format) else {
                throw .bad(
                    option: "format", value: format.shortened(to: 64),
                    reason: "needs one of \(Self.formats.joined(separator: ", "))")
            }
            image.options.append("format:\(format)")
        }
        image.isSize = true
        // The media server behind the proxy answers for what does not exist.
        image.wantsFallback = false
        return image
    }
}

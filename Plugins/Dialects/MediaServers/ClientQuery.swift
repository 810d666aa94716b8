import OnesheetAddress
import OnesheetCore

/// The parameters of a client of a media server. Names have any case, and the first of several with one name counts.
struct ClientQuery {
    private static let longest = 4096
    private static let most = 64

    private var values: [String: String] = [:]

    /// - Parameter text: without the question mark.
    init(_ text: Substring) throws(RequestError) {
        guard text.utf8.count <= Self.longest else { throw .malformed("the query has more than \(Self.longest) bytes") }
        let pairs = text.pieces(at: "&")
        guard pairs.count <= Self.most else { throw .malformed("the query has more than \(Self.most) parameters") }
        for pair in pairs {
            let (name, value) = pair.cut(at: "=") ?? (pair, "")
            let key = try PercentEncoding.decode(name).lowercasedASCII()
            guard values[key] == nil else { continue }
            values[key] = try PercentEncoding.decode(value.replacing(bytesOf: "+", with: "%20"))
        }
    }

    /// The value of a parameter; `nil` if it is absent or empty.
    /// - Parameter name: in lower case.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The whole number that `text` is; 0 if there is none.
    func number(_ text: String?, _ name: String, _ range: ClosedRange<Int>) throws(RequestError) -> Int {
        guard let text else { return 0 }
        guard text.utf8.count <= 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            range.contains(number)
        else {
            throw .bad(
                option: name, value: text.shortened(to: 64),
                reason: "needs a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// The size in which a client of a media server wants an image.
///
/// Each client computes it from its screen, so sides are rounded up to one of few: clients with similar screens share one image, and nobody
/// can make the server store thousands. Clients scale what they get.
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
    init(_ query: ClientQuery, _ width: String, _ height: String, covers: Bool = false) throws(RequestError) {
        self.width = Self.side(try query.number(query[width], width, 0...99_999))
        self.height = Self.side(try query.number(query[height], height, 0...99_999))
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

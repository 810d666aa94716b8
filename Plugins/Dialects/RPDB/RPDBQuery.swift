import OnesheetAddress
import OnesheetCore

/// The last part of an address: an id, and a format by its extension.
struct RPDBFile {
    let name: Substring
    let format: String

    /// - Throws: `RequestError` for an unknown extension.
    init(_ text: Substring, of style: RPDBStyle) throws(RequestError) {
        guard text.utf8.count <= 128 else { throw .malformed("the id has more than 128 bytes") }
        guard let (name, end) = text.cut(atLast: ".") else {
            (self.name, format) = (text, style.kind == .logo ? "png" : "jpg")
            return
        }
        self.name = name
        switch end.lowercasedASCII() {
        case "jpg", "jpeg": format = "jpg"
        case "png": format = "png"
        case "webp": format = "webp"
        default: throw .malformed("“.\(String(end).shortened(to: 16))” is no format of images here: .jpg, .png and .webp are")
        }
    }
}

/// The parameters of clients. Unknown ones have no effect.
struct RPDBParameters {
    let language: [LanguageList.Entry]
    let size: String
    let wantsFallback: Bool
    let isTextless: Bool
    /// The names of those that have no effect here, although they have one elsewhere.
    let ignored: [String]

    /// The parameters that choose what other servers draw on images, and where that comes from.
    private static let drawings = [
        "order", "label", "badges", "badgePos", "theme", "ratings_order", "ratings_limit", "badge_style", "badge_size",
        "label_style", "badge_direction", "position", "image_source", "poster_source", "blur",
    ]
    private static func isYes(_ value: String?) -> Bool { ["true", "t", "1"].contains(value?.lowercasedASCII()) }

    /// - Throws: `RequestError` for a query that is too long or not percent-encoded.
    init(_ text: Substring) throws(RequestError) {
        let query = try ClientQuery(text)
        // What is no language has no effect: clients send what their own clients have set.
        language = query["lang"].flatMap { LanguageTag($0.replacing(bytesOf: "_", with: "-")) }.map { [.language($0)] } ?? []
        size = query["imagesize"] ?? "medium"
        wantsFallback = Self.isYes(query["fallback"])
        isTextless = Self.isYes(query["textless"]) || Self.isYes(query["fanart_textless"])
        let isIgnored = query["lang"] != nil && language.isEmpty
        ignored =
            (isIgnored ? ["lang"] : [])
            // No ratings is what there is.
            + Self.drawings.filter { name in query[name.lowercasedASCII()].map { name != "ratings_limit" || $0 != "0" } ?? false }
    }
}

/// The sizes of OpenPosterDB. Images are not enlarged, and a logo is not cut.
enum RPDBSize {
    private static let words = ["small": 0, "medium": 1, "large": 2, "very-large": 3, "verylarge": 3]

    /// - Throws: `RequestError.bad` for a size that the kind does not have.
    static func options(_ size: String, of kind: ImageKind) throws(RequestError) -> [String] {
        let sizes: [(width: Int, height: Int)?] =
            switch kind {
            case .backdrop: [(1280, 720), (1920, 1080), (3840, 2160), (3840, 2160)]
            case .still: [(480, 270), (780, 439), (1280, 720), (1920, 1080)]
            case .logo: [nil, (780, 244), (1722, 539), (2689, 841)]
            default: [nil, (580, 859), (1280, 1896), (2000, 2962)]
            }
        guard let place = words[size], let sides = sizes[place] else {
            throw .bad(option: "imageSize", value: size.shortened(to: 16), reason: "is no size of this kind of image")
        }
        return (kind == .logo ? [] : ["resizing_type:fill"]) + ["w:\(sides.width)", "h:\(sides.height)"]
    }
}

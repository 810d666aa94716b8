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

/// The parameters of clients.
struct RPDBParameters {
    private(set) var language: [LanguageList.Entry] = []
    private(set) var size = "medium"
    private(set) var wantsFallback = false
    private(set) var isTextless = false
    /// The names of those that ask for something on the image.
    private(set) var ignored: [String] = []

    private static let longest = 2048
    /// What is drawn on images elsewhere, and where it comes from.
    private static let drawings: Set<String> = [
        "order", "label", "badges", "badgePos", "theme", "ratings_order", "ratings_limit", "badge_style", "badge_size",
        "label_style",
        "badge_direction", "position", "image_source", "poster_source", "blur",
    ]

    /// - Throws: `RequestError` for a value that is not understood. Unknown parameters have no effect.
    init(_ query: Substring) throws(RequestError) {
        guard query.utf8.count <= Self.longest else { throw .malformed("the query has more than \(Self.longest) bytes") }
        for pair in query.pieces(at: "&") {
            let (name, text) = pair.cut(at: "=") ?? (pair, "")
            let value = try PercentEncoding.decode(text)
            switch name {
            case "fallback": wantsFallback = value == "true" || value == "1"
            case "lang":
                language = Self.language(value)
                if language.isEmpty, !ignored.contains("lang") { ignored.append("lang") }
            case "imageSize": size = value
            case "textless", "fanart_textless": isTextless = value == "true" || value == "t" || value == "1"
            // No ratings is what there is.
            case "ratings_limit" where value == "0": break
            case let name where Self.drawings.contains(String(name)) && !ignored.contains(String(name)):
                ignored.append(String(name))
            default: break
            }
        }
    }

    /// Empty for what is no language: clients send what their own clients have set.
    private static func language(_ text: String) -> [LanguageList.Entry] {
        LanguageTag(text.replacing(bytesOf: "_", with: "-")).map { [.language($0)] } ?? []
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

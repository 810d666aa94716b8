import OnesheetAddress
public import OnesheetCore

/// The addresses of Cloudflare: `/cdn-cgi/image/{options}/{source-url}`
public struct CloudflareDialect: Dialect {
    public static let name = "cloudflare"
    public static let prefix = "/cdn-cgi/image/"
    public static let readsQuery = true

    public init() {}

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        guard let (options, url) = address.cut(at: "/") else {
            throw .malformed("a Cloudflare address is /cdn-cgi/image/{options}/{url}, such as /cdn-cgi/image/width=300/sample://1")
        }
        try server.requireUnsigned()
        let read = try CloudflareOptions(options)
        return DialectImage(title: try server.title(embedded: url), options: read.options, negotiates: read.negotiates)
    }
}

/// Cloudflare's options: `width=300,fit=cover,format=auto`.
struct CloudflareOptions {
    /// In Onesheet's grammar.
    private(set) var options: [String] = []
    /// Whether the client's `Accept` header selects the format. By default the original's format is kept.
    private(set) var negotiates = false
    private var flip: (across: Bool, down: Bool)?
    private var isTurned = false

    private static let fits = [
        "scale-down": [], "contain": ["enlarge:1"], "cover": ["resizing_type:fill", "enlarge:1"], "crop": ["resizing_type:fill"],
        "aspect-crop": ["resizing_type:fill-down"], "pad": ["enlarge:1", "extend:1"],
        "squeeze": ["resizing_type:force", "enlarge:1"],
    ]
    private static let sides = ["auto": "sm", "left": "we", "right": "ea", "top": "no", "bottom": "so", "center": "ce"]
    private static let metadata = ["none": [], "copyright": ["keep_copyright:1"], "keep": ["strip_metadata:0"]]
    private static let flips = ["h": (true, false), "v": (false, true), "hv": (true, true)]
    private static let names = [
        "width", "w", "height", "h", "quality", "q", "format", "f", "fit", "gravity", "g", "dpr", "background", "blur", "sharpen",
        "rotate", "flip", "metadata", "anim",
    ]

    init(_ text: Substring) throws(RequestError) {
        for option in text.pieces(at: ",", omittingEmptySubsequences: false) {
            guard let (name, value) = option.cut(at: "="), !value.isEmpty else {
                throw .malformed("“\(option)” is not an option such as width=300")
            }
            try add(String(name), try PercentEncoding.decode(value))
        }
        // Cloudflare flips before it rotates; a transform flips afterwards.
        if let flip { options.append(isTurned ? "flip:\(flip.down):\(flip.across)" : "flip:\(flip.across):\(flip.down)") }
    }

    private mutating func add(_ name: String, _ value: String) throws(RequestError) {
        func one<Meaning>(of meanings: [String: Meaning]) throws(RequestError) -> Meaning {
            guard let meaning = meanings[value] else {
                throw .bad(option: name, value: value, reason: "needs one of \(meanings.keys.sorted().joined(separator: ", "))")
            }
            return meaning
        }
        switch name {
        case "width", "w", "height", "h", "quality", "q", "dpr", "blur", "sharpen": options.append("\(name):\(value)")
        case "format", "f":
            negotiates = value == "auto"
            if !negotiates { options.append("format:\(value == "baseline-jpeg" ? "jpeg" : value)") }
        case "fit": options += try one(of: Self.fits)
        case "gravity", "g":
            let point = value.pieces(at: "x")
            options.append("gravity:\(point.count == 2 ? "fp:\(point[0]):\(point[1])" : try one(of: Self.sides))")
        case "background": options.append("background:\(Self.color(value))")
        case "rotate":
            isTurned = ["90", "270"].contains(value)
            options.append("rotate:\(value)")
        case "flip": flip = try one(of: Self.flips)
        case "metadata": options += try one(of: Self.metadata)
        // Onesheet does not make animations.
        case "anim": _ = try one(of: ["false": false])
        default: throw .unknown(unknownName(name, kind: "option", known: Self.names))
        }
    }

    /// `#ff0000`, `ff0000` or `rgb(255,0,0)`.
    private static func color(_ text: String) -> String {
        guard text.starts(withBytesOf: "rgb("), let (inner, rest) = text.dropFirst(bytes: 4).cut(atLast: ")"), rest.isEmpty else {
            return String(text.starts(withBytesOf: "#") ? text.dropFirst(bytes: 1) : text[...])
        }
        return inner.pieces(at: ",").flatMap { $0.pieces(at: " ") }.joined(separator: ":")
    }
}

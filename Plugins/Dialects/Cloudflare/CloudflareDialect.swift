import OnesheetAddress
public import OnesheetCore

/// The addresses of Cloudflare: `/cdn-cgi/image/{options}/{source-url}`
public struct CloudflareDialect: Dialect {
    public static let name = "cloudflare"
    public static let prefix = "/cdn-cgi/image/"
    public static let readsQuery = true

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        guard let (options, url) = address.cut(at: "/") else {
            throw .malformed("a Cloudflare address is /cdn-cgi/image/{options}/{url}, such as /cdn-cgi/image/width=300/sample://1")
        }
        try server.requireUnsigned()
        let read = try CloudflareOptions(options)
        var image = DialectImage(title: try server.title(embedded: url), options: read.options, negotiates: read.negotiates)
        if read.redirects {
            // Redirects only to URLs that a source may fetch: the title has been checked.
            let place = try url.firstRange(ofBytesOf: "://") == nil ? PercentEncoding.decode(url) : String(url)
            guard let original = WebURL(place) else {
                throw .bad(option: "onerror", value: "redirect", reason: "needs an http or https URL to redirect to")
            }
            image.fallback = original.description
        }
        return image
    }

    public func address(of title: TitleReference, as transform: Transform, signedBy sign: (String) -> String) -> String? {
        CloudflareWriter.options(transform).map { "\($0)/\(PercentEncoding.encode(title.description))" }
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
    /// Whether clients are redirected to the original if there is no image.
    private(set) var redirects = false
    private var isFast = false
    private var crop: [String: String] = [:]
    /// Whether `trim` has four sides.
    private var cutsSides = false
    /// The border to remove, if any.
    private var border: Border?

    private struct Border {
        var tolerance: String?
        var color: String?
    }

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
        "rotate", "flip", "metadata", "anim", "compression", "onerror", "trim", "trim.left", "trim.top", "trim.width",
        "trim.height", "trim.border.color", "trim.border.tolerance",
    ]
    /// The qualities for Cloudflare's names of a perceived quality.
    private static let qualities = ["high": 90, "medium-high": 80, "medium-low": 65, "low": 50]
    /// Options of Cloudflare that this server knows but does not support, with the reason.
    private static let refused: [String: String] = [
        "border": "exists only in Workers", "brightness": "is not supported here", "contrast": "is not supported here",
        "gamma": "is not supported here", "saturation": "is not supported here",
        "segment": "needs a model, which this server does not have",
        "slow-connection-quality": "depends on the client's connection; responses of this server do not",
        "scq": "depends on the client's connection; responses of this server do not",
        "zoom": "needs face detection, which this server does not have",
        "upscale": "needs a model, which this server does not have",
        "origin-auth": "is not supported here; configure the source instead", "draw": "exists only in Workers",
    ]

    init(_ text: Substring) throws(RequestError) {
        for option in text.pieces(at: ",", omittingEmptySubsequences: false) {
            guard let (name, value) = option.cut(at: "="), !value.isEmpty else {
                throw .malformed("“\(option)” is not an option such as width=300")
            }
            try add(String(name), try PercentEncoding.decode(value))
        }
        try addCrop()
        if let border { options.append("trim:\(border.tolerance ?? "10")\(border.color.map { ":\($0)" } ?? "")") }
        if isFast {
            // The format that is encoded fastest.
            negotiates = false
            options.append("format:jpeg")
        }
        // Cloudflare flips before it rotates, a transform afterwards.
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
        case "width", "w", "height", "h":
            guard value != "auto" else {
                throw .bad(
                    option: name, value: value,
                    reason: "depends on client hints, which this server does not use; give the size in pixels")
            }
            options.append("\(name):\(value)")
        case "quality", "q": options.append("quality:\(Self.qualities[value].map(String.init) ?? value)")
        case "dpr", "blur", "sharpen": options.append("\(name):\(value)")
        case "compression": isFast = try one(of: ["fast": true])
        case "onerror": redirects = try one(of: ["redirect": true])
        case "trim": try addTrim(value)
        case "trim.border.tolerance": border = Border(tolerance: value, color: border?.color)
        case "trim.border.color": border = Border(tolerance: border?.tolerance, color: Self.color(value))
        case "trim.border.keep":
            throw .bad(option: name, value: value, reason: "is not supported here; the whole border is removed")
        case "trim.left", "trim.top", "trim.width", "trim.height": crop[String(name.dropFirst("trim.".count))] = value
        case "format", "f":
            if value == "json" {
                throw .bad(
                    option: name, value: value,
                    reason: "describes the image, which /explain does here; needs auto, avif, webp, jpeg, baseline-jpeg or png")
            }
            negotiates = value == "auto"
            if !negotiates { options.append("format:\(value == "baseline-jpeg" ? "jpeg" : value)") }
        case "fit": options += try one(of: Self.fits)
        case "gravity", "g":
            if value == "face" {
                throw .bad(
                    option: name, value: value,
                    reason: "needs face detection, which this server does not have; auto keeps the part that attracts attention")
            }
            let point = value.pieces(at: "x")
            options.append("gravity:\(point.count == 2 ? "fp:\(point[0]):\(point[1])" : try one(of: Self.sides))")
        case "background": options.append("background:\(Self.color(value))")
        case "rotate":
            isTurned = Int(value).map { $0 % 180 != 0 } ?? false
            options.append("rotate:\(value)")
        case "flip": flip = try one(of: Self.flips)
        case "metadata": options += try one(of: Self.metadata)
        // Onesheet does not make animations.
        case "anim": _ = try one(of: ["false": false])
        default:
            let group = name.cut(at: ".")?.before ?? name[...]
            if let reason = Self.refused[name] ?? Self.refused[String(group)] {
                throw .bad(option: name, value: value, reason: reason)
            }
            throw .unknown(unknownName(name, kind: "option", known: Self.names))
        }
    }

    /// `trim=border`, or `trim=20;30;20;0`: pixels to cut off at the top, on the right, at the bottom and on the left.
    private mutating func addTrim(_ value: String) throws(RequestError) {
        guard value != "border" else {
            border = border ?? Border()
            return
        }
        let sides = value.pieces(at: ";", omittingEmptySubsequences: false)
        let pixels = sides.compactMap { Int($0) }.filter { (0...65_535).contains($0) }
        guard sides.count == 4, pixels.count == 4 else {
            throw .bad(
                option: "trim", value: value,
                reason: "needs border, or four sides in pixels such as 20;30;20;0 (top, right, bottom, left)")
        }
        cutsSides = true
        options.append("inset:" + pixels.map(String.init).joined(separator: ":"))
    }

    /// `trim.left=10,trim.top=20,trim.width=300,trim.height=450`. A missing side extends to the edge of the picture.
    private mutating func addCrop() throws(RequestError) {
        guard !crop.isEmpty else { return }
        for (side, value) in crop {
            guard !cutsSides else {
                throw .bad(option: "trim.\(side)", value: value, reason: "cannot be combined with trim=, which cuts the same sides")
            }
            guard let pixels = Int(value), (0...65_535).contains(pixels) else {
                throw .bad(option: "trim.\(side)", value: value, reason: "needs a whole number from 0 to 65535")
            }
        }
        func pixels(_ side: String, or missing: String) -> String { crop[side] ?? missing }
        options.append(
            "crop:\(pixels("width", or: "65535")):\(pixels("height", or: "65535")):nowe:\(pixels("left", or: "0")):\(pixels("top", or: "0"))"
        )
    }

    /// `#ff0000`, `ff0000`, `red` or `rgb(255,0,0)`.
    private static func color(_ text: String) -> String {
        guard text.starts(withBytesOf: "rgb("), let (inner, rest) = text.dropFirst(bytes: 4).cut(atLast: ")"), rest.isEmpty else {
            return NamedColors.digits[text.lowercasedASCII()]
                ?? String(text.starts(withBytesOf: "#") ? text.dropFirst(bytes: 1) : text[...])
        }
        return inner.pieces(at: ",").flatMap { $0.pieces(at: " ") }.joined(separator: ":")
    }
}

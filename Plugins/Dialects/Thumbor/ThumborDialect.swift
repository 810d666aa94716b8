import OnesheetAddress
public import OnesheetCore

/// The addresses of thumbor: `/thumbor/{signature}/[fit-in/][{-}{w}x{h}/][halign/][valign/][smart/][filters:…/]{image}`
public struct ThumborDialect: Dialect {
    public static let name = "thumbor"
    public static let prefix = "/thumbor/"
    public static let readsQuery = true

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        guard let (signature, path) = address.cut(at: "/") else {
            throw .malformed(
                "a thumbor address is /thumbor/{signature}/{options}/{image}, such as /thumbor/unsafe/300x450/sample%3A%2F%2F1")
        }
        try server.check(sha1: signature, of: path)
        let read = try ThumborPath(path)
        return DialectImage(title: try title(read.image, on: server), options: read.options)
    }

    /// The title of a source URL. As in thumbor, the scheme can be omitted; the allow-lists then decide between `https` and `http`, unless the
    /// configuration has a base for such URLs.
    private func title(_ image: Substring, on server: any DialectServer) throws(RequestError) -> TitleReference {
        let host = image.cut(at: "/")?.before ?? image
        let text = host.contains(mark: "%") ? Substring(try PercentEncoding.decode(image)) : image
        guard text.firstRange(ofBytesOf: "://") == nil, let name = text.cut(at: "/")?.before,
            name.contains(mark: ".") || name.contains(mark: ":")
        else { return try server.title(embedded: image) }
        do throws(RequestError) {
            return try server.title(embedded: image)
        } catch {
            guard case .malformed = error else { throw error }
        }
        do throws(RequestError) {
            return try server.title(embedded: "https://\(text)")
        } catch {
            guard case .forbidden = error else { throw error }
            return try server.title(embedded: "http://\(text)")
        }
    }

    public func address(of title: TitleReference, as transform: Transform, signedBy sign: (String) -> String) -> String? {
        let path = ThumborWriter.path(of: title, as: transform)
        return "\(sign(path))/\(path)"
    }
}

/// The part of an address after the signature. Each component is optional, and their order is fixed.
struct ThumborPath {
    /// In Onesheet's grammar.
    private(set) var options: [String] = []
    /// The source URL as written.
    private(set) var image: Substring

    private static let unsupported = ["debug", "meta", "adaptive-fit-in", "adaptive-full-fit-in"]

    init(_ path: Substring) throws(RequestError) {
        image = path
        if let word = consume({ Self.unsupported.contains(String($0)) }) {
            throw .bad(option: "thumbor", value: String(word), reason: "is not supported here")
        }
        if let trim = consume({ $0 == "trim" || $0.starts(withBytesOf: "trim:") }) { try add(trim: trim) }
        if let crop = consume({ $0.contains(mark: ":") && $0.utf8.allSatisfy { "0123456789x:".utf8.contains($0) } }) {
            try add(crop: crop)
        }
        if let word = consume({ Self.unsupported.contains(String($0)) }) {
            throw .bad(option: "thumbor", value: String(word), reason: "is not supported here")
        }
        var box = ThumborBox(fits: consume { $0 == "fit-in" } != nil, covers: consume { $0 == "full-fit-in" } != nil)
        if let size = consume({ $0.contains(mark: "x") && $0.utf8.allSatisfy { "0123456789x-orig".utf8.contains($0) } }) {
            try box.set(size)
        }
        box.across = consume { ["left", "center", "right"].contains($0) }
        box.down = consume { ["top", "middle", "bottom"].contains($0) }
        box.isSmart = consume { $0 == "smart" } != nil
        var filters = ThumborFilters()
        if image.starts(withBytesOf: "filters:") {
            guard let end = image.firstRange(ofBytesOf: ")/") else {
                throw .malformed("“\(image)”: the filters do not end with “)/”")
            }
            filters = try ThumborFilters(image[..<end.lowerBound].dropFirst(bytes: "filters:".utf8.count))
            image = image[end.upperBound...]
        }
        options += box.options(turned: filters.rotation, around: filters.focus) + filters.options
    }

    /// Consumes the next component if it matches. The last one is the image.
    private mutating func consume(_ isWanted: (Substring) -> Bool) -> Substring? {
        guard let (part, rest) = image.cut(at: "/"), isWanted(part) else { return nil }
        image = rest
        return part
    }

    /// `left x top : right x bottom` in pixels.
    private mutating func add(crop text: Substring) throws(RequestError) {
        let edges = text.pieces(at: ":").flatMap { $0.pieces(at: "x") }.compactMap { Int($0) }
        guard edges.count == 4, edges[2] > edges[0], edges[3] > edges[1] else {
            throw .bad(option: "crop", value: String(text), reason: "needs {left}x{top}:{right}x{bottom} around at least one pixel")
        }
        options.append("crop:\(edges[2] - edges[0]):\(edges[3] - edges[1]):nowe:\(edges[0]):\(edges[1])")
    }

    /// `trim`, `trim:top-left` or `trim:top-left:10`: the corner that has the border's colour, and the tolerance.
    private mutating func add(trim text: Substring) throws(RequestError) {
        var words = text.pieces(at: ":").dropFirst()
        if words.first == "top-left" { words.removeFirst() }
        guard words.count <= 1, words.allSatisfy({ Int($0) != nil }) else {
            throw .bad(option: "trim", value: String(text), reason: "needs top-left, or nothing, and a tolerance")
        }
        options.append("trim:\(words.first ?? "0")")
    }
}

/// How thumbor fits a picture into a box.
struct ThumborBox {
    let fits: Bool
    let covers: Bool
    var across: Substring?
    var down: Substring?
    var isSmart = false
    private var sides: [Substring]?
    private var flips = [false, false]

    init(fits: Bool, covers: Bool) {
        self.fits = fits
        self.covers = covers
    }

    /// Reads `300x450`; a minus sign flips.
    mutating func set(_ text: Substring) throws(RequestError) {
        let sides = text.pieces(at: "x", omittingEmptySubsequences: false)
        guard sides.count == 2 else {
            throw .bad(option: "size", value: String(text), reason: "needs {width}x{height}, such as 300x450")
        }
        flips = sides.map { $0.starts(withBytesOf: "-") }
        self.sides = sides.map { $0.starts(withBytesOf: "-") ? $0.dropFirst(bytes: 1) : $0 }
    }

    /// The same in Onesheet's grammar. A side that is 0 or missing follows from the other. thumbor enlarges unless it fits in.
    /// - Parameters:
    ///   - rotation: degrees clockwise by which the finished picture is turned. A transform turns before it resizes.
    ///   - focus: the point to keep, in pixels of the original.
    func options(turned rotation: Int, around focus: (x: Double, y: Double)?) -> [String] {
        let isOnItsSide = rotation == 90 || rotation == 270
        var options: [String] = rotation == 0 ? [] : ["rotate:\(rotation)"]
        guard let sides else { return options }
        let areGiven = sides.map { $0.utf8.contains { $0 != UInt8(ascii: "0") } }
        let (width, height) = isOnItsSide ? (sides[1], sides[0]) : (sides[0], sides[1])
        options += ["width:\(width)", "height:\(height)"]
        if flips.contains(true) {
            options.append(isOnItsSide ? "flip:\(flips[1]):\(flips[0])" : "flip:\(flips[0]):\(flips[1])")
        }
        if covers { options.append("resizing_type:cover") }
        if !fits, !covers, areGiven.contains(true) { options.append("enlarge:1") }
        guard !fits, !covers, !areGiven.contains(false) else { return options }
        options.append("resizing_type:fill")
        if let focus {
            options.append("gravity:pt:\(focus.x):\(focus.y)")
        } else if isSmart {
            options.append("gravity:sm")
        } else if let side = side(turned: rotation) {
            options.append("gravity:\(side)")
        }
        return options
    }

    /// The side to keep. thumbor crops before it flips and rotates, so the sides change places.
    private func side(turned rotation: Int) -> String? {
        var (x, y) = (across == "left" ? -1 : across == "right" ? 1 : 0, down == "top" ? -1 : down == "bottom" ? 1 : 0)
        (x, y) = (flips[0] ? -x : x, flips[1] ? -y : y)
        for _ in 0..<(rotation / 90) { (x, y) = (-y, x) }
        let name = ["no", "", "so"][y + 1] + ["we", "", "ea"][x + 1]
        return name.isEmpty ? nil : name
    }
}

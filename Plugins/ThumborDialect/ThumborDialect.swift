public import OnesheetCore

/// The addresses of thumbor: `/thumbor/{signature}/[fit-in/][{-}{w}x{h}/][halign/][valign/][smart/][filters:…/]{image}`
public struct ThumborDialect: Dialect {
    public static let name = "thumbor"
    public static let prefix = "/thumbor/"
    public static let readsQuery = true

    public init() {}

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        guard let (signature, path) = address.cut(at: "/") else {
            throw .malformed(
                "a thumbor address is /thumbor/{signature}/{options}/{image}, such as /thumbor/unsafe/300x450/sample%3A%2F%2F1")
        }
        try server.check(sha1: signature, of: path)
        let read = try ThumborPath(path)
        return DialectImage(title: try server.title(embedded: read.image), options: read.options)
    }
}

/// The part of an address after the signature. Each component is optional, and their order is fixed.
struct ThumborPath {
    /// In Onesheet's grammar.
    private(set) var options: [String] = []
    /// The source URL as written.
    private(set) var image: Substring

    private static let unsupported = ["debug", "meta", "trim", "adaptive-fit-in", "full-fit-in", "adaptive-full-fit-in"]

    init(_ path: Substring) throws(RequestError) {
        image = path
        if let word = take({ Self.unsupported.contains(String($0.cut(at: ":")?.before ?? $0)) }) {
            throw .bad(option: "thumbor", value: String(word), reason: "is not supported here")
        }
        if let crop = take({ $0.contains(mark: ":") && $0.utf8.allSatisfy { "0123456789x:".utf8.contains($0) } }) {
            try add(crop: crop)
        }
        let fitsIn = take { $0 == "fit-in" } != nil
        if let size = take({ $0.contains(mark: "x") && $0.utf8.allSatisfy { "0123456789x-orig".utf8.contains($0) } }) {
            try add(size: size, fitsIn: fitsIn)
        } else {
            addGravity(flips: nil)
        }
        guard image.starts(withBytesOf: "filters:") else { return }
        guard let end = image.firstRange(ofBytesOf: ")/") else { throw .malformed("“\(image)”: the filters do not end with “)/”") }
        options += try ThumborFilters.options(image[..<end.lowerBound].dropFirst(bytes: "filters:".utf8.count))
        image = image[end.upperBound...]
    }

    /// Consumes the next component if it matches. The last one is the image.
    private mutating func take(_ isWanted: (Substring) -> Bool) -> Substring? {
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

    /// `300x450`. A side that is 0 or missing follows from the other, and a minus sign flips. thumbor enlarges unless it fits in.
    private mutating func add(size text: Substring, fitsIn: Bool) throws(RequestError) {
        let sides = text.pieces(at: "x", omittingEmptySubsequences: false)
        guard sides.count == 2 else {
            throw .bad(option: "size", value: String(text), reason: "needs {width}x{height}, such as 300x450")
        }
        let flips = sides.map { $0.starts(withBytesOf: "-") }
        let lengths = sides.map { $0.starts(withBytesOf: "-") ? $0.dropFirst(bytes: 1) : $0 }
        let areGiven = lengths.map { $0.utf8.contains { $0 != UInt8(ascii: "0") } }
        options += ["width:\(lengths[0])", "height:\(lengths[1])"]
        if flips.contains(true) { options.append("flip:\(flips[0]):\(flips[1])") }
        if !fitsIn, areGiven.contains(true) { options.append("enlarge:1") }
        let fills = !fitsIn && !areGiven.contains(false)
        if fills { options.append("resizing_type:fill") }
        addGravity(flips: fills ? flips : nil)
    }

    /// - Parameter flips: across and down; `nil` if nothing is cut off and no choice is needed. thumbor crops before it flips, so
    ///   the sides are swapped there.
    private mutating func addGravity(flips: [Bool]?) {
        let across = take { ["left", "center", "right"].contains($0) }
        let down = take { ["top", "middle", "bottom"].contains($0) }
        let isSmart = take { $0 == "smart" } != nil
        guard let flips else { return }
        if isSmart {
            options.append("gravity:sm")
            return
        }
        let vertical = flips[1] ? ["top": "so", "bottom": "no"] : ["top": "no", "bottom": "so"]
        let horizontal = flips[0] ? ["left": "ea", "right": "we"] : ["left": "we", "right": "ea"]
        let name = (down.flatMap { vertical[String($0)] } ?? "") + (across.flatMap { horizontal[String($0)] } ?? "")
        if !name.isEmpty { options.append("gravity:\(name)") }
    }
}

import OnesheetAddress
public import OnesheetCore

/// The addresses of the images of Jellyfin and Emby, for their clients: `/Items/{id}/Images/{kind}` and `/Items/{id}/Images/{kind}/{index}`.
/// The source `jellyfin` has the server.
public struct JellyfinDialect: Dialect {
    public static let name = "jellyfin"
    public static let prefix = "/Items/"
    public static let otherPrefixes = ["/items/", "/emby/Items/", "/emby/items/"]
    public static let readsQuery = true
    public let source: String? = "jellyfin"

    /// The kinds of images that an item has (<https://api.jellyfin.org>).
    private static let kinds = [
        "Art", "Backdrop", "Banner", "Box", "BoxRear", "Chapter", "Disc", "Logo", "Menu", "Primary", "Profile", "Screenshot",
        "Thumb",
    ]
    /// Parameters that change the picture, and that this server does not apply.
    private static let refused = ["blur", "backgroundcolor", "foregroundlayer"]
    /// No item has more images of one kind.
    private static let indices = 0...999

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    /// An image by its item, its kind and its tag. One original serves all sizes and formats; a new tag is a new original.
    ///
    /// There are few sizes (`ClientBox`), and clients cannot sign addresses, so none needs a signature.
    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        let (path, text) = address.cut(at: "?") ?? (address, "")
        let parts = path.pieces(at: "/", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts[1].lowercasedASCII() == "images", let item = Self.item(parts[0]) else {
            throw .noSuchPath(Self.prefix + path)
        }
        let word = parts[2].lowercasedASCII()
        guard let kind = Self.kinds.first(where: { $0.lowercasedASCII() == word }) else {
            throw .unknown(unknownName(String(parts[2]).shortened(to: 64), kind: "kind of image", known: Self.kinds))
        }
        let query = try ClientQuery(text)
        for name in Self.refused {
            // `blur=0` asks for nothing.
            guard let value = query[name], value != "0" else { continue }
            throw .bad(option: name, value: value.shortened(to: 64), reason: "is not supported here")
        }
        let index = try query.number(
            parts.count == 4 ? String(parts[3]) : query["imageindex"] ?? query["index"], of: "index", in: Self.indices)
        var id = "/Items/\(item)/Images/\(kind)" + (index == 0 ? "" : "/\(index)")
        if let tag = query["tag"] {
            guard tag.utf8.count <= 64, tag.utf8.allSatisfy(\.isLetterOrDigit) else {
                throw .bad(option: "tag", value: tag.shortened(to: 64), reason: "needs up to 64 letters and digits")
            }
            id += "?tag=\(tag)"
        }
        var box = try ClientBox(query, width: "fillwidth", height: "fillheight", covers: true)
        if box.isOpen { box = try ClientBox(query, width: "maxwidth", height: "maxheight") }
        if box.isOpen { box = try ClientBox(query, width: "width", height: "height") }
        return try box.image(of: try server.title("jellyfin://\(id)"), in: query["format"])
    }

    /// The id of an item in one spelling: that of Jellyfin has 32 hexadecimal digits, with or without dashes, and that of Emby is a number.
    private static func item(_ text: Substring) -> String? {
        let digits = text.utf8.count == 36 ? text.filter { $0 != "-" } : String(text)
        guard (1...64).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isLetterOrDigit) else { return nil }
        return digits.lowercasedASCII()
    }
}

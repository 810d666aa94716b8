import OnesheetAddress
public import OnesheetCore

/// The address at which clients of Plex ask for an image in a size: `/photo/:/transcode?url=/library/metadata/1/thumb/2&width=…&height=…`.
/// The source `plex` has the server and its token.
public struct PlexDialect: Dialect {
    public static let name = "plex"
    public static let prefix = "/photo/:/transcode"
    public static let readsQuery = true
    public let source: String? = "plex"

    /// The images of an item, as in the paths of the manifest.
    private static let kinds = ["art", "banner", "clearLogo", "composite", "squareArt", "thumb"]
    /// Parameters that change the picture, and that this server does not apply.
    private static let refused = ["blur", "background", "blendcolor", "opacity", "saturation"]
    /// The hosts by which clients let a server mean itself.
    private static let own = ["127.0.0.1", "localhost"]

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    /// An image by its path, whose last number changes with the picture. A client's token is not needed and not read.
    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        let query = try ClientQuery(address.dropFirst(bytes: 1))
        guard let url = query["url"] else {
            throw .malformed("the parameter “url” is needed, such as url=/library/metadata/1/thumb/1700000000")
        }
        for name in Self.refused {
            // Clients name these too when they change nothing.
            guard let value = query[name], !["0", "100"].contains(value) else { continue }
            throw .bad(option: name, value: value.shortened(to: 64), reason: "is not supported here")
        }
        let path = try Self.path(of: url)
        let box = try ClientBox(query, width: "width", height: "height", covers: query["minsize"] == "1")
        return try box.image(of: try server.title("plex://\(path)"), in: query["format"])
    }

    /// The path of an image on the server, without the query, which may have the client's token.
    ///
    /// Nothing but images may pass: a request with the token of the server can do more than read them.
    private static func path(of url: String) throws(RequestError) -> String {
        var path = String(url.cut(at: "?")?.before ?? url[...])
        if let place = WebURL(path), own.contains(place.host) { path = place.path }
        let parts = path.dropFirst(bytes: 1).pieces(at: "/", omittingEmptySubsequences: false)
        guard path.utf8.first == UInt8(ascii: "/"), (4...5).contains(parts.count), parts[0].isExactly("library"),
            ["metadata", "collections", "sections"].contains(where: { parts[1].isExactly($0) }),
            kinds.contains(where: { parts[3].isExactly($0) }),
            parts.allSatisfy({ (1...32).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isLetterOrDigit) })
        else {
            throw .bad(
                option: "url", value: path.shortened(to: 64),
                reason: "is not the path of an image in the library, such as /library/metadata/1/thumb/1700000000")
        }
        return path
    }
}

import OnesheetAddress
public import OnesheetCore

/// The addresses of RPDB, OpenPosterDB and their relatives, for clients in which only the host is changed:
/// `/{key}/{imdb|tmdb|tvdb}/{kind}-{label}/{id}.{jpg|png}`. There are no ratings on the images.
public struct RPDBDialect: Dialect {
    /// The keys of the configuration.
    public struct Configuration: Decodable, Sendable {
        /// The source of the images.
        var source: String?
        var keys: [AccessKey]
    }

    public static let name = "rpdb"
    public static let prefix = "/{key}/"
    public static let readsQuery = true
    private static let type = "application/json;charset=utf-8"

    public let source: String?
    public var clientKeys: [String] { keys.texts }
    private let images: String
    private let keys: AccessKeys

    public init(_ configuration: Configuration) throws(ConfigurationError) {
        images = configuration.source ?? "tmdb"
        source = images
        keys = try AccessKeys(configuration.keys)
    }

    public static func isAddress(_ path: Substring) -> Bool {
        guard let (key, rest) = path.dropFirst(bytes: 1).cut(at: "/"), !key.isEmpty else { return false }
        if Question(rawValue: String(rest)) != nil { return true }
        let parts = rest.pieces(at: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 && RPDBAddress.Database(rawValue: String(parts[0])) != nil && RPDBStyle(parts[1]) != nil
    }

    /// What a client asks about its key.
    private enum Question: String {
        case isValid, requests
    }

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        let (path, query) = address.cut(at: "?") ?? (address, "")
        guard let (name, rest) = path.cut(at: "/") else { throw .noSuchPath("/…") }
        guard let key = keys.key(name) else { throw .forbidden("this server has no such key") }
        if Question(rawValue: String(rest)) != nil { return nil }
        let read = try RPDBAddress(rest, query: query, languages: key.languages)
        guard key.allows(read.kind) else { throw .forbidden("this key is not for images of the kind “\(read.kind.rawValue)”") }
        var image = DialectImage(title: try title(read, on: server), options: read.options, isShared: true)
        image.selector = read.selector
        // There are few sizes, and only clients with a key get here.
        image.isSize = true
        image.wantsFallback = read.wantsFallback ? true : nil
        image.ignored = read.ignored
        image.limit = key.limit
        return image
    }

    private func title(_ read: RPDBAddress, on server: any DialectServer) throws(RequestError) -> TitleReference {
        switch read.id {
        case .show(let number): return try server.title("\(images)://tv-\(number)\(read.part)")
        case .other(let id):
            let title = try server.title(id, of: read.database.rawValue, from: images)
            return read.part.isEmpty ? title : try server.title("\(title)\(read.part)")
        }
    }

    /// The answer for a key that is valid. `image(at:on:)` has refused all others. Programs read one of these members or only the status.
    public func document(
        at address: Substring, on server: any DialectServer, from host: DialectHost
    ) async throws -> DialectDocument {
        .written("{\"valid\":true,\"validity\":true,\"limit\":0,\"requestCount\":0}", type: Self.type)
    }

    public static func errorDocument(status: Int, detail: String) -> (any Encodable & Sendable)? { ["error": detail] }
}

/// The addresses of another image server, translated into this one's.
///
/// A dialect reads text and nothing else. What its addresses ask for is checked, fetched, rendered and answered by the server, so that an
/// address is answered with the very bytes of the free transform that it is translated into. A dialect is made once and used by many
/// requests at a time.
public protocol Dialect: Sendable {
    /// The word in a configuration's `dialects`: `thumbor`.
    static var name: String { get }
    /// Where its addresses are: the path itself or, if it ends with a slash, everything below it.
    static var prefix: String { get }
    /// Whether the query belongs to the address.
    static var readsQuery: Bool { get }

    init()

    /// Translates the address of an image.
    /// - Parameters:
    ///   - address: what follows the prefix, percent-encoded; with the query and its question mark if it is read.
    ///   - server: checks signatures and finds titles.
    /// - Returns: `nil` if this is the address of a document, which `document(at:on:from:)` answers.
    /// - Throws: `RequestError` that says which part of the address cannot be read, is not allowed, or has no counterpart here.
    func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage?

    /// What is at an address that is not an image's. Without an implementation there is nothing.
    /// - Parameter host: what a document may tell of the server.
    /// - Throws: `RequestError`, and what `host` throws.
    func document(at address: Substring, on server: any DialectServer, from host: DialectHost) async throws -> DialectDocument
}

extension Dialect {
    public static var readsQuery: Bool { false }

    public func document(
        at address: Substring, on server: any DialectServer, from host: DialectHost
    ) async throws -> DialectDocument {
        throw RequestError.noSuchPath(Self.prefix + address)
    }
}

/// What a server lends a dialect that reads an address.
public protocol DialectServer: Sendable {
    /// To be asked before anything else is read, if addresses cannot carry a signature.
    /// - Throws: `RequestError.forbidden` if this server makes only what was signed.
    func requireUnsigned() throws(RequestError)

    /// To be asked before anything else is read, if addresses carry one.
    /// - Parameters:
    ///   - signature: base64url of HMAC-SHA1(key, path), or `unsafe`.
    ///   - path: what was signed.
    /// - Throws: `RequestError.badSignature` unless one of the server's keys has signed `path`, or none is needed.
    func check(sha1 signature: Substring, of path: Substring) throws(RequestError)

    /// The title that a source URL names: `sample://1`, or an `http` or `https` URL that a source allows.
    /// - Throws: `RequestError` if it is not one, or if no source allows it.
    func title(_ sourceURL: String) throws(RequestError) -> TitleReference

    /// The same for a source URL inside a path: percent-encoded, or an `http` or `https` URL as it stands, with its query.
    func title(embedded sourceURL: Substring) throws(RequestError) -> TitleReference
}

/// An image's address in this server's words.
public struct DialectImage: Sendable, Equatable {
    public var title: TitleReference
    /// Options of this server's own grammar, each with its arguments: `w:300`.
    public var options: [String]
    /// Whether the client's `Accept` decides the format.
    public var negotiates: Bool
    /// What the outcome must measure, in pixels, 0 for a side that is open; `nil` if a smaller one will do as well.
    public var exactly: PixelSize?
    /// Whether pages of every origin may read the pixels (CORS).
    public var isShared: Bool

    public init(
        title: TitleReference, options: [String], negotiates: Bool = false, exactly: PixelSize? = nil, isShared: Bool = false
    ) {
        (self.title, self.options, self.negotiates) = (title, options, negotiates)
        (self.exactly, self.isShared) = (exactly, isShared)
    }
}

/// What a dialect's documents may tell of a server.
public struct DialectHost: Sendable {
    /// Where clients reach the server: `https://posters.example`.
    public let url: String
    /// The formats that are written.
    public let formats: [ImageFormat]
    /// Whether any transform is made; if not, presets are all that is.
    public let makesAnything: Bool
    /// Pixels of the largest image that is made.
    public let mostPixels: Int
    private let measure: @Sendable (TitleReference) async throws -> [PixelSize]

    /// - Parameter measure: gives `sizes(of:)`.
    public init(
        url: String, formats: [ImageFormat], makesAnything: Bool, mostPixels: Int,
        measure: @escaping @Sendable (TitleReference) async throws -> [PixelSize]
    ) {
        (self.url, self.formats, self.makesAnything, self.mostPixels) = (url, formats, makesAnything, mostPixels)
        self.measure = measure
    }

    /// The sizes of a title's picture in pixels: those of the size ladder that are smaller than the original, and last the original's.
    public func sizes(of title: TitleReference) async throws -> [PixelSize] { try await measure(title) }
}

/// What is at an address that is not an image's. Pages of every origin may read it.
public enum DialectDocument: Sendable {
    /// It is at another place, a path.
    case redirect(to: String)
    /// A JSON document.
    case json(any Encodable & Sendable, type: String)
}

/// Pixels to each side.
public struct PixelSize: Sendable, Hashable, Encodable {
    public let width: Int
    public let height: Int

    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
}

/// Translates the addresses of another image server into Onesheet's options.
///
/// A dialect only parses text. The server checks, fetches, renders and responds, so an address gets the same bytes as the free
/// transform that it is translated to. One instance of a dialect serves many concurrent requests.
public protocol Dialect: Sendable {
    /// Its own keys, which a configuration has below its name; none by default.
    associatedtype Configuration: Decodable & Sendable = NoConfiguration

    /// The name in a configuration's `dialects`: `thumbor`.
    static var name: String { get }
    /// The path prefix of its addresses: an exact path or, if it ends with a slash, everything below it. What a client chooses is in braces:
    /// `/{key}/`. Then `isAddress(_:)` says more, and the dialect gets what follows the text before the first brace.
    static var prefix: String { get }
    /// Further prefixes of the same addresses, as clients write them; empty by default.
    static var otherPrefixes: [String] { get }
    /// Whether the query is part of the address.
    static var readsQuery: Bool { get }
    /// The path prefix of further documents, which ends with a slash; `nil` by default. `document(at:on:from:)` gets what is behind it, with
    /// the query.
    static var documents: String? { get }
    /// The name of the source whose images the addresses mean; `nil` by default, if addresses name theirs. A configuration must have it.
    var source: String? { get }
    /// The keys with which clients may ask, if addresses have one; none by default. They are secrets: the server leaves them out of its logs,
    /// traces and errors, also in paths that are no address.
    var clientKeys: [String] { get }

    /// Whether a path with one of the prefixes, percent-encoded and without the query, is an address of this dialect. By default, all are.
    static func isAddress(_ path: Substring) -> Bool

    /// The body of an error at an address of `documents`, or of images if there are no such documents, in the form of the other server. By
    /// default it is a problem document.
    static func errorDocument(status: Int, detail: String) -> (any Encodable & Sendable)?

    /// - Throws: `ConfigurationError` with the path of the key below the dialect's name.
    init(_ configuration: Configuration) throws(ConfigurationError)

    /// Translates the address of an image.
    /// - Parameters:
    ///   - address: the percent-encoded part after the prefix, including the query and its question mark if the dialect reads it.
    ///   - server: checks signatures and finds titles.
    /// - Returns: `nil` if this is the address of a document, which `document(at:on:from:)` returns.
    /// - Throws: `RequestError` for the part of the address that is invalid, forbidden, or has no equivalent.
    func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage?

    /// Translates back: the part after the prefix of this dialect's address of an image. There is none by default.
    ///
    /// The server parses the address again and omits it if it requests something else. A dialect need not check that every part of the
    /// transform survives.
    /// - Parameters:
    ///   - title: the title.
    ///   - transform: the transform of its poster. If it has no format, the client's `Accept` selects one.
    ///   - sign: returns the signature of a path, for dialects whose addresses have one.
    /// - Returns: `nil` if the dialect cannot express the transform.
    func address(of title: TitleReference, as transform: Transform, signedBy sign: (String) -> String) -> String?

    /// The document at an address that is not an image. There is none by default.
    /// - Parameter host: the facts about the server that a document may show.
    /// - Throws: `RequestError`, and any error of `host`.
    func document(at address: Substring, on server: any DialectServer, from host: DialectHost) async throws -> DialectDocument

    /// The questions that clients ask at `documents`, which a prefetch asks ahead of them. There are none by default.
    /// - Parameter query: that of the clients: `language=de-DE&append_to_response=images`.
    /// - Returns: one for a title. None if the other server has nothing about `subject`.
    /// - Throws: `RequestError` for a query that the other server does not have, also if there is no question about `subject`.
    func questions(about subject: ServiceSubject, with query: String) throws(RequestError) -> [ServiceQuestion]
}

extension Dialect {
    public static var otherPrefixes: [String] { [] }
    public static var readsQuery: Bool { false }
    public static var documents: String? { nil }
    public var source: String? { nil }
    public var clientKeys: [String] { [] }
    public static func errorDocument(status: Int, detail: String) -> (any Encodable & Sendable)? { nil }

    public static func isAddress(_ path: Substring) -> Bool { true }

    public func address(of title: TitleReference, as transform: Transform, signedBy sign: (String) -> String) -> String? { nil }

    public func questions(about subject: ServiceSubject, with query: String) throws(RequestError) -> [ServiceQuestion] { [] }

    public func document(
        at address: Substring, on server: any DialectServer, from host: DialectHost
    ) async throws -> DialectDocument {
        throw RequestError.noSuchPath(Self.prefix + address)
    }
}

/// The services of the server for a dialect that parses an address.
public protocol DialectServer: Sendable {
    /// Must be called first if addresses cannot have a signature.
    /// - Throws: `RequestError.forbidden` if this server accepts only signed addresses.
    func requireUnsigned() throws(RequestError)

    /// Must be called first if addresses have a signature.
    /// - Parameters:
    ///   - signature: base64url of HMAC-SHA1(key, path), or `unsafe`.
    ///   - path: the signed text.
    /// - Throws: `RequestError.badSignature` unless one of the server's keys has signed `path`, or the server requires no
    ///   signature.
    func check(sha1 signature: Substring, of path: Substring) throws(RequestError)

    /// The title for a source URL: `sample://1`, or an `http` or `https` URL that a source allows.
    /// - Throws: `RequestError` if it is not a source URL, or if no source allows it.
    func title(_ sourceURL: String) throws(RequestError) -> TitleReference

    /// The same for a source URL inside a path: percent-encoded, or an unescaped `http` or `https` URL with its query.
    func title(embedded sourceURL: Substring) throws(RequestError) -> TitleReference

    /// The title that a database has under `id`, as the source of that name writes it.
    /// - Parameter database: `imdb`, `tmdb` or `tvdb`, for example.
    /// - Throws: `RequestError` if the source takes no ids of the database, or none of this form.
    func title(_ id: String, of database: String, from source: String) throws(RequestError) -> TitleReference
}

/// The address of an image in Onesheet's terms.
public struct DialectImage: Sendable, Equatable {
    /// The title whose image is shown.
    public var title: TitleReference
    /// Which of its images; the poster by default.
    public var selector = ImageSelector.poster
    /// Options of Onesheet's grammar, each with its arguments: `w:300`.
    public var options: [String]
    /// Whether the client's `Accept` header selects the format.
    public var negotiates: Bool
    /// The required size of the output in pixels, 0 for an open side; `nil` if a smaller one will do.
    public var exactly: PixelSize?
    /// Whether pages of every origin may read the pixels (CORS).
    public var isShared: Bool
    /// Whether the options are one of few sizes, as those of `/t/p/`: allowed also if only presets are, and without a default preset.
    public var isSize = false
    /// An `http` or `https` URL to which clients are redirected if there is no image.
    public var fallback: String?
    /// Whether the client asks for the fallback image of the server if there is no image; by default, the configuration decides. `false` is for a
    /// dialect in front of the other server, which is asked instead.
    public var wantsFallback: Bool?
    /// A limit of requests that this one counts against, such as that of a key; none by default.
    public var limit: RequestLimit?
    /// The parts of the address that were read and have no effect: names of parameters, for example.
    public var ignored: [String] = []

    public init(
        title: TitleReference, options: [String], negotiates: Bool = false, exactly: PixelSize? = nil, isShared: Bool = false
    ) {
        self.title = title
        self.options = options
        self.negotiates = negotiates
        self.exactly = exactly
        self.isShared = isShared
    }
}

/// The facts about a server that a dialect's documents may show.
public struct DialectHost: Sendable {
    /// The public URL of the server: `https://posters.example`.
    public let url: String
    /// The formats that the server encodes.
    public let formats: [ImageFormat]
    /// Whether the server accepts any transform, or only presets.
    public let makesAnything: Bool
    /// The largest image in pixels.
    public let mostPixels: Int
    private let measure: @Sendable (TitleReference) async throws -> [PixelSize]
    private let ask: @Sendable (_ source: String, ServiceQuestion) async throws -> ServiceAnswer

    /// - Parameters:
    ///   - ask: returns the result of `answer(from:to:)`. By default, no source answers.
    ///   - measure: returns the result of `sizes(of:)`.
    public init(
        url: String, formats: [ImageFormat], makesAnything: Bool, mostPixels: Int,
        ask: @escaping @Sendable (_ source: String, ServiceQuestion) async throws -> ServiceAnswer = { source, _ in
            throw SourceError.unsupported("questions to “\(source)”")
        },
        measure: @escaping @Sendable (TitleReference) async throws -> [PixelSize]
    ) {
        self.ask = ask
        self.url = url
        self.formats = formats
        self.makesAnything = makesAnything
        self.mostPixels = mostPixels
        self.measure = measure
    }

    /// The sizes of a title's picture in pixels: the steps of the size ladder that are smaller than the original, and last the
    /// original.
    public func sizes(of title: TitleReference) async throws -> [PixelSize] { try await measure(title) }

    /// The answer of the service behind a source, from the cache while it is fresh, and also later if the service fails.
    public func answer(from source: String, to question: ServiceQuestion) async throws -> ServiceAnswer {
        try await ask(source, question)
    }
}

/// The response for an address that is not an image. Pages of every origin may read it.
public enum DialectDocument: Sendable {
    /// A redirect to a path.
    case redirect(to: String)
    /// A JSON document.
    case json(any Encodable & Sendable, type: String)
    /// A JSON document as it is written, with its status. `fresh` are the seconds for which every request for it gets the same.
    case written(String, type: String, status: Int = 200, fresh: Double = 0)
}

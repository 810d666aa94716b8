import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
import OnesheetPipeline
import Synchronization

/// The route of a dialect.
struct DialectRoute: ImageRoute {
    let prefix: String
    let label: String
    let readsQuery: Bool
    let images: ImageContext
    /// The dialect's name in the configuration.
    var grammar: String { type(of: dialect).name }
    let dialect: any Dialect
    /// The clients of a dialect with a source take this server for another, which is open to them.
    var isOpen: Bool { dialect.source != nil }
    private let configuration: DialectConfiguration
    private let listen: ListenAddress
    private let isSecure: Bool
    private let presetsOnly: Bool
    private let outputPixels: Int
    private let catalog: Catalog

    /// - Parameters:
    ///   - prefix: one of `prefixes(of:at:)`.
    ///   - listen: the host for requests without `Host`.
    ///   - isSecure: whether the server uses TLS.
    ///   - presetsOnly: whether only presets are allowed.
    ///   - outputPixels: the maximum pixels of a variant.
    ///   - catalog: the sources, of which a dialect may ask one.
    init(
        _ dialect: any Dialect, _ configuration: DialectConfiguration, at prefix: String, images: ImageContext,
        listen: ListenAddress, isSecure: Bool, presetsOnly: Bool, outputPixels: Int, catalog: Catalog
    ) {
        // What a client chooses is no part of the name in metrics.
        label = Self.label(of: prefix)
        self.prefix = type(of: dialect).text(of: prefix)
        self.configuration = configuration
        readsQuery = type(of: dialect).readsQuery
        self.dialect = dialect
        self.images = images
        self.listen = listen
        self.isSecure = isSecure
        self.presetsOnly = presetsOnly
        self.outputPixels = outputPixels
        self.catalog = catalog
    }

    /// The prefixes of a dialect's addresses, each of which has its route.
    static func prefixes(of dialect: any Dialect, at configuration: DialectConfiguration) -> [String] {
        configuration.isAtRoot ? ["/"] : type(of: dialect).prefixes
    }

    func matches(_ path: String) -> Bool {
        configuration.isAtRoot ? RootAddress.dialect.begins(path) : type(of: dialect).isAddress(path, behind: prefix)
    }

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let server = AddressServices(images, configuration, findsForbidden: true)
        guard let image = try dialect.image(at: rest, on: server) else { return nil }
        let transform = try image.isSize ? images.options.transform(ofSize: image.options) : images.options.transform(image.options)
        var address = ImageAddress(
            server.found(image.title), image.selector, transform: transform,
            negotiates: image.negotiates, exactly: image.exactly, isShared: image.isShared)
        address.fallback = image.fallback
        address.wantsFallback = image.wantsFallback
        address.ignored = image.ignored
        address.limit = image.limit
        return address
    }

    func other(_ context: RequestContext, rest: Substring) async throws -> Response {
        try await document(context, rest: rest).response
    }

    /// The response for an address that is not an image, and the seconds for which everyone gets the same.
    fileprivate func document(_ context: RequestContext, rest: Substring) async throws -> (response: Response, fresh: Double) {
        let server = AddressServices(images, configuration)
        switch try await dialect.document(at: rest, on: server, from: host(context, on: server)) {
        case .redirect(let place):
            return (Response(status: .seeOther, headers: [.location: place, .accessControlAllowOrigin: "*"]), 0)
        case .json(let document, let type):
            var response = try Response.json(document, type: type)
            response.headers[.accessControlAllowOrigin] = "*"
            response.headers[.cacheControl] = "public, max-age=60"
            response.headers[.vary] = PublicURL.vary
            return (response, 0)
        case .written(let document, let type, let status, let fresh):
            let body = ByteBuffer(string: document)
            try context.client.hold(body, isInTier: false)
            var response = Response.written(body, status: .init(code: status), type: type)
            response.headers[.accessControlAllowOrigin] = "*"
            response.headers[.cacheControl] = "public, max-age=60"
            return (response, fresh)
        }
    }

    func response(to problem: Problem) throws -> Response? {
        type(of: dialect).documents == nil ? try errorDocument(of: problem) : nil
    }

    /// A problem in the form of the other server, if it has one.
    fileprivate func errorDocument(of problem: Problem) throws -> Response? {
        guard let document = type(of: dialect).errorDocument(status: problem.status.code, detail: problem.detail) else {
            return nil
        }
        var response = try Response.json(document, status: problem.status, type: "application/json;charset=utf-8")
        for field in problem.fields where field.name != .contentType { response.headers[field.name] = field.value }
        response.headers[.accessControlAllowOrigin] = "*"
        return response
    }

    private func host(_ context: RequestContext, on server: AddressServices) -> DialectHost {
        DialectHost(
            url: PublicURL(listen: listen, isSecure: isSecure).text(of: context), formats: images.accept.formats,
            makesAnything: !presetsOnly, mostPixels: outputPixels,
            ask: { [catalog] source, question in try await catalog.answer(of: source, to: question) }
        ) { [pipeline = images.pipeline] title in
            let source = server.found(title).source
            let original = try await pipeline.size(of: ImageReference(try await pipeline.own(title, from: source)), from: source)
            return (SizeLadder.widths.filter { $0 < original.width } + [original.width]).map { width in
                var transform = Transform()
                transform.width = width
                let size = Renderer.size(of: transform, width: original.width, height: original.height)
                return PixelSize(width: size.width, height: size.height)
            }
        }
    }
}

/// The route of a dialect's further documents.
struct DialectDocumentRoute: Route {
    let prefix: String
    let isOpen = true
    private let images: DialectRoute
    private let administrator: Administrator
    private let documents: KeptDocuments

    /// - Parameter documents: keeps the documents that are for everyone.
    /// - Returns: `nil` if the dialect has none.
    init?(_ images: DialectRoute, _ administrator: Administrator, keeping documents: KeptDocuments) {
        guard let prefix = type(of: images.dialect).documents else { return nil }
        self.prefix = prefix
        self.images = images
        self.administrator = administrator
        self.documents = documents
    }

    func matches(_ path: String) -> Bool { type(of: images.dialect).isDocument(path) }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try administrator.checkLists(context)
        let target = context.request.head.path ?? ""
        if administrator.sharesLists, let kept = documents.document(at: target, to: context.headers) {
            try context.client.hold(kept.bytes, isInTier: true)
            return kept.answer(to: context.headers)
        }
        let purges = documents.purges
        let (response, fresh) = try await images.document(context, rest: rest + context.query)
        guard administrator.sharesLists else { return response }
        return try await documents.keep(response, at: target, for: fresh, since: purges, to: context.headers)
    }

    func response(to problem: Problem) throws -> Response? { try images.errorDocument(of: problem) }
}

/// The services of the server for a dialect that parses one address. A dialect passes on only titles, so the last one found stays here
/// with its source.
private final class AddressServices: DialectServer {
    private let images: ImageContext
    private let configuration: DialectConfiguration
    private let sources: SourceURL
    private let latest = Mutex<FoundTitle?>(nil)

    /// - Parameter findsForbidden: as of `SourceURL`.
    init(_ images: ImageContext, _ configuration: DialectConfiguration, findsForbidden: Bool = false) {
        self.images = images
        self.configuration = configuration
        sources = SourceURL(sources: images.sources, findsForbidden: findsForbidden)
    }

    /// `title` with the source that was found for it. A dialect may also have made a title without asking.
    func found(_ title: TitleReference) -> FoundTitle {
        let known = latest.withLock { $0 }
        if let known, known.title.source.isExactly(title.source) {
            var found = FoundTitle(canonical: title, source: known.source)
            found.forbidden = known.forbidden
            return found
        }
        return FoundTitle(canonical: title, source: images.sources.source(named: title.source))
    }

    func requireUnsigned() throws(RequestError) { try images.signature.checkUnsigned() }

    func check(sha1 signature: Substring, of path: Substring) throws(RequestError) {
        try images.signature.check(thumbor: signature, of: path)
    }

    func title(_ sourceURL: String) throws(RequestError) -> TitleReference {
        keep(try sources.resolve(configuration.sourceURL(sourceURL)))
    }

    func title(embedded sourceURL: Substring) throws(RequestError) -> TitleReference {
        guard !configuration.baseURL.isEmpty else { return keep(try sources.resolve(embedded: sourceURL)) }
        let text = try PercentEncoding.decode(sourceURL)
        // A whole URL keeps its query.
        guard text.firstRange(ofBytesOf: "://") == nil else { return keep(try sources.resolve(embedded: sourceURL)) }
        return keep(try sources.resolve(configuration.sourceURL(text)))
    }

    func title(_ id: String, of database: String, from source: String) throws(RequestError) -> TitleReference {
        guard let found = images.sources.source(named: source) else { throw .unknown("there is no source “\(source)”") }
        let forms = found.capabilities.ids.filter { $0.database.isExactly(database) }
        guard !forms.isEmpty else { throw .unknown("the source “\(source)” takes no ids of \(database)") }
        guard let written = forms.lazy.compactMap({ $0.written(id) }).first else {
            throw .malformed("“\(id.shortened(to: 64))” is not an id of \(database)")
        }
        return keep(FoundTitle(TitleReference(source: source, id: written), in: images.sources))
    }

    private func keep(_ found: FoundTitle) -> TitleReference {
        latest.withLock { $0 = found }
        return found.title
    }
}

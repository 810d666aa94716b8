import HTTPTypes
import Hummingbird
import OnesheetAddress
import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
import OnesheetPipeline

/// The route of a dialect.
struct DialectRoute: ImageRoute {
    let prefix: String
    let readsQuery: Bool
    let images: ImageContext
    /// The dialect's name in the configuration.
    var grammar: String { type(of: dialect).name }
    let dialect: any Dialect
    private let listen: ListenAddress
    private let isSecure: Bool
    private let presetsOnly: Bool
    private let outputPixels: Int

    /// - Parameters:
    ///   - listen: the host for requests without `Host`.
    ///   - isSecure: whether the server uses TLS.
    ///   - presetsOnly: whether only presets are allowed.
    ///   - outputPixels: the maximum pixels of a variant.
    init(
        _ dialect: any Dialect, images: ImageContext, listen: ListenAddress, isSecure: Bool, presetsOnly: Bool, outputPixels: Int
    ) {
        prefix = type(of: dialect).prefix
        readsQuery = type(of: dialect).readsQuery
        self.dialect = dialect
        self.images = images
        self.listen = listen
        self.isSecure = isSecure
        self.presetsOnly = presetsOnly
        self.outputPixels = outputPixels
    }

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        guard let image = try dialect.image(at: rest, on: images) else { return nil }
        // `title(_:)` has found the source, but a dialect passes on only its name.
        let source = images.sources.first { $0.name.isExactly(image.title.source) }?.source
        var address = ImageAddress(
            FoundTitle(canonical: image.title, source: source), transform: try images.options.transform(image.options),
            negotiates: image.negotiates, exactly: image.exactly, isShared: image.isShared)
        address.fallback = image.fallback
        return address
    }

    func other(_ rest: Substring, _ request: Request) async throws -> Response {
        switch try await dialect.document(at: rest, on: images, from: host(request)) {
        case .redirect(let place):
            return Response(status: .seeOther, headers: [.location: place, .accessControlAllowOrigin: "*"])
        case .json(let document, let type):
            var response = try Response.json(document, type: type)
            response.headers[.accessControlAllowOrigin] = "*"
            response.headers[.cacheControl] = "public, max-age=60"
            response.headers[.vary] = PublicURL.vary
            return response
        }
    }

    private func host(_ request: Request) -> DialectHost {
        DialectHost(
            url: PublicURL(listen: listen, isSecure: isSecure).text(of: request), formats: images.accept.formats,
            makesAnything: !presetsOnly, mostPixels: outputPixels
        ) { [pipeline = images.pipeline] title in
            let original = try await pipeline.size(of: title)
            return (SizeLadder.widths.filter { $0 < original.width } + [original.width]).map { width in
                var transform = Transform()
                transform.width = width
                let size = Renderer.size(of: transform, width: original.width, height: original.height)
                return PixelSize(width: size.width, height: size.height)
            }
        }
    }
}

extension ImageContext: DialectServer {
    func requireUnsigned() throws(RequestError) { try signature.checkUnsigned() }

    func check(sha1 signature: Substring, of path: Substring) throws(RequestError) {
        try self.signature.check(thumbor: signature, of: path)
    }

    func title(_ sourceURL: String) throws(RequestError) -> TitleReference {
        try SourceURL(sources: sources).resolve(sourceURL).title
    }

    func title(embedded sourceURL: Substring) throws(RequestError) -> TitleReference {
        try SourceURL(sources: sources).resolve(embedded: sourceURL).title
    }
}

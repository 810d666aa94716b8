import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCore
import OnesheetCrypto
import OnesheetHTTP
import OnesheetImaging

/// The images for what does not exist. They are originals of a source that no configuration can name, so the pipeline makes and keeps them
/// as any other image, but under their own titles.
struct FallbackImages: Sendable {
    /// No source of a configuration has a capital letter in its name.
    private static let source = "Fallback"

    private let configuration: FallbackConfiguration
    private let originals: FallbackOriginals

    /// - Throws: `ConfigurationError` if a file cannot be used.
    init(_ configuration: FallbackConfiguration, drawnBy renderer: Renderer, _ limits: Limits) throws(ConfigurationError) {
        self.configuration = configuration
        var files: [ImageKind: FallbackOriginals.File] = [:]
        for (name, path) in configuration.images.sorted(by: { $0.key < $1.key }) {
            guard let kind = ImageKind(rawValue: name) else { continue }
            files[kind] = try Self.file(path, at: "fallback.images.\(name)", by: renderer, within: limits)
        }
        originals = FallbackOriginals(files: files, renderer: renderer)
    }

    private static func file(
        _ path: String, at key: String, by renderer: Renderer, within limits: Limits
    ) throws(ConfigurationError) -> FallbackOriginals.File {
        func failure(_ reason: String) -> ConfigurationError {
            ConfigurationError(path: key, message: "“\(path)” cannot be used: \(reason)")
        }
        let bytes: Data
        do { bytes = try Data(contentsOf: URL(filePath: path)) } catch { throw failure(ConfigurationFile.reason(error)) }
        guard bytes.count <= limits.originBytes else { throw failure("it has more than \(limits.originBytes) bytes") }
        let file = FallbackOriginals.File(bytes: ByteBuffer(bytes: bytes), digest: SHA256.hash(bytes).prefix(8).hexadecimal)
        // A file whose header alone can be read would be missed only when it is needed.
        var transform = Transform()
        transform.width = 64
        do throws(RenderError) { _ = try renderer.render(file.bytes, as: transform) } catch { throw failure("\(error)") }
        return file
    }

    /// Whether a client gets one.
    /// - Parameter isWanted: whether its address asks for one, or for none; `nil` if it says nothing.
    func isGiven(whenWanted isWanted: Bool?) -> Bool {
        switch configuration.given {
        case .never: false
        case .asked: isWanted ?? false
        case .always: isWanted ?? true
        }
    }

    /// The title whose poster is the image for a kind. Another file is another title.
    func title(of kind: ImageKind) -> FoundTitle {
        FoundTitle(canonical: TitleReference(source: Self.source, id: originals.id(of: kind)), source: originals)
    }

    /// A response with the image as that for a title that does not exist.
    /// - Parameters:
    ///   - image: the response for the image itself.
    ///   - lifetime: the longest time in seconds that caches may keep a response at this address.
    func response(_ image: Response, of kind: ImageKind, atMost lifetime: Int?) -> Response {
        var response = image
        if response.status == .ok { response.status = .init(code: configuration.status) }
        // It says nothing about the image that may be here later, so it has neither a validator nor ranges.
        for name in [HTTPField.Name.eTag, .lastModified, .acceptRanges, .cacheStatus, .link] { response.headers[name] = nil }
        response.headers[.cacheControl] = "public, max-age=\(min(Int(configuration.expires.seconds), lifetime ?? .max))"
        response.headers[.fallback] = kind.rawValue
        return response
    }
}

/// The originals of the images for what does not exist: files, and what is drawn for the other kinds.
private struct FallbackOriginals: ContentSource {
    struct File: Sendable {
        let bytes: ByteBuffer
        let digest: String
    }

    let files: [ImageKind: File]
    let renderer: Renderer

    let originPolicy = OriginPolicy(allow: [], networks: [])
    var asksService: Bool { false }

    func id(of kind: ImageKind) -> String { "\(kind.rawValue)-\(files[kind]?.digest ?? DrawnFallback.version)" }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { TitlePage(titles: []) }

    func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        guard let kind = ImageKind.allCases.first(where: { self.id(of: $0).isExactly(id) }) else { throw .notFound(id: id) }
        let place = OriginalLocation.local(name: id) { [file = files[kind], renderer] () throws(SourceError) in
            if let file { return file.bytes }
            do throws(RenderError) { return try renderer.encoded(try DrawnFallback(kind).picture(within: renderer)) } catch {
                throw .failed(reason: "the fallback image cannot be drawn", details: "\(error)")
            }
        }
        return [PosterCandidate(place)]
    }
}

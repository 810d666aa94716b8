import OnesheetHTTP
import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// The facts about an address that all its responses share.
struct AddressFacts {
    /// Whether the response depends on `Accept`.
    var varies = false
    /// Whether any origin may read the pixels (CORS).
    var isShared = false
    /// Whether the image at this address never changes.
    var isVersioned = false
    /// The canonical path of the variant.
    var canonical: String?
    /// The parts of the address that have no effect.
    var ignored: [String] = []
    /// How a browser shows the image, and the title that names its file.
    var disposition: (Disposition, TitleReference)?
    /// The longest time in seconds that caches may keep the response, if it is shorter than that of other images.
    var longestLifetime: Int?
    /// The end of the address, in seconds since 1970. No cache may keep a response beyond it.
    var expires: Int?

    /// The longest time in seconds that caches may keep a response of `now`; `nil` if it is that of other images.
    func longestLifetime(at now: Date) -> Int? {
        // 0 is no expiry, as in `ImageAddress.checkExpiry(at:)`.
        guard let expires, expires > 0 else { return longestLifetime }
        let rest = expires.subtractingReportingOverflow(Int(now.timeIntervalSince1970.rounded(.up))).partialValue
        return min(max(0, rest), longestLifetime ?? .max)
    }
}

/// The HTTP response for an image: 200, 206, 304, 412 or 416. Every image route ends here.
struct ImageResponse {
    private let answer: ImageAnswer
    private let address: AddressFacts
    private let modified: Date?

    init(answer: ImageAnswer, address: AddressFacts) {
        self.answer = answer
        self.address = address
        modified = answer.entry.lastModified
    }

    var validator: String { answer.entry.validator }

    /// The preconditions in the header fields of a request.
    func preconditions(_ fields: HTTPFields) -> Preconditions {
        Preconditions(fields: fields, validator: validator, modified: modified)
    }

    /// What a response sends of the image.
    enum Extent: Equatable {
        /// Nothing: a 304, 412 or 416, or a response to `HEAD`.
        case nothing
        case parts([Range<Int>])
        case whole
    }

    /// What the response to a request sends of the image.
    func extent(to method: HTTPTypes.HTTPRequest.Method, _ fields: HTTPFields) -> Extent {
        let conditions = preconditions(fields)
        guard conditions.outcome == .met, method == .get else { return .nothing }
        return switch ByteRanges(conditions.allowsRange ? fields[.range] : nil, size: answer.size) {
        case .whole: .whole
        case .parts(let parts): .parts(parts)
        case .unsatisfiable: .nothing
        }
    }

    /// - Parameters:
    ///   - fields: the request's header fields.
    ///   - parts: the bytes that `extent` names, if the answer comes without its body.
    ///   - now: the current time.
    func response(to method: HTTPTypes.HTTPRequest.Method, _ fields: HTTPFields, parts read: [ByteBuffer]? = nil, at now: Date)
        -> Response
    {
        let body = answer.entry.body
        switch preconditions(fields).outcome {
        case .failed: return Problem.changed.response()
        case .notModified: return notModified(at: now)
        case .met: break
        }
        let lifetime = lifetime(at: now)
        switch extent(to: method, fields) {
        case .parts(let ranges): return partial(Array(zip(ranges, read ?? ranges.map(body.slice))), lifetime)
        case .whole: return Response(status: .ok, headers: allFields(lifetime), body: ResponseBody(byteBuffer: body))
        case .nothing where method == .get:
            var response = Problem.noSuchRange(size: answer.size).response()
            response.headers[.contentRange] = "bytes */\(answer.size)"
            return response
        case .nothing:
            // Only its length is sent.
            let empty = ResponseBody(contentLength: answer.size) { writer in try await writer.finish(nil) }
            return Response(status: .ok, headers: allFields(lifetime), body: empty)
        }
    }

    /// The 304 response.
    func notModified(at now: Date) -> Response {
        .withoutContent(.notModified, cacheFields(lifetime(at: now)))
    }

    private func lifetime(at now: Date) -> CacheLifetime {
        CacheLifetime(
            freshness: answer.entry.freshness, expires: answer.entry.expires, atMost: address.longestLifetime(at: now), at: now)
    }

    private func partial(_ parts: [(range: Range<Int>, bytes: ByteBuffer)], _ lifetime: CacheLifetime) -> Response {
        var fields = allFields(lifetime)
        if parts.count == 1 {
            fields[.contentRange] = MultipartRanges.contentRange(parts[0].range, of: answer.size)
            return Response(status: .partialContent, headers: fields, body: ResponseBody(byteBuffer: parts[0].bytes))
        }
        let all = MultipartRanges(parts, of: answer.size, mediaType: answer.entry.mediaType, validator: validator)
        fields[.contentType] = all.mediaType
        return Response(status: .partialContent, headers: fields, body: ResponseBody(byteBuffer: all.body))
    }

    /// The fields for caches, which a 304 also has (RFC 9110 §15.4.5). There is no `Age`: `max-age` counts from the response.
    private func cacheFields(_ lifetime: CacheLifetime) -> HTTPFields {
        var fields: HTTPFields = [.eTag: EntityTags.field(validator)]
        if address.varies { fields[.vary] = "Accept" }
        if address.isShared { fields[.accessControlAllowOrigin] = "*" }
        guard answer.isStorable else {
            fields[.cacheControl] = "no-store"
            return fields
        }
        fields[.cacheControl] = lifetime.cacheControl(isVersioned: address.isVersioned)
        return fields
    }

    private func allFields(_ lifetime: CacheLifetime) -> HTTPFields {
        var fields = cacheFields(lifetime)
        fields[.contentType] = answer.entry.mediaType
        fields[.lastModified] = modified.map(HTTPDate.text)
        fields[.acceptRanges] = "bytes"
        fields[.cacheStatus] = cacheStatus(lifetime)
        fields[.serverTiming] = serverTiming
        fields[.xContentTypeOptions] = "nosniff"
        if answer.entry.mediaType == ImageFormat.svg.mediaType { fields[.contentSecurityPolicy] = Self.drawingPolicy }
        let presentation = answer.entry.presentation
        fields[.thumbHash] = presentation.thumbHash
        fields[.color] = presentation.color?.hexadecimal
        if let width = presentation.width, let height = presentation.height { fields[.size] = "\(width)x\(height)" }
        if let (disposition, title) = address.disposition {
            fields[.contentDisposition] = disposition.field(for: title, fileExtension: fileExtension)
        }
        if !address.ignored.isEmpty { fields[.ignored] = address.ignored.joined(separator: ", ") }
        if let canonical = address.canonical { fields[.link] = "<\(canonical)>; rel=\"canonical\"" }
        return fields
    }

    /// A drawing has been sanitised. If something was missed, a browser that opens it as a page runs and loads nothing all the same.
    private static let drawingPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

    /// `Cache-Status` (RFC 9211).
    private func cacheStatus(_ lifetime: CacheLifetime) -> String {
        let stored = answer.isStorable ? "; stored" : ""
        return switch answer.origin {
        case .memory: "onesheet; hit; ttl=\(lifetime.remaining); detail=\(MemoryTier.name)"
        case .tier(let name): "onesheet; hit; ttl=\(lifetime.remaining); detail=\(name)"
        case .made: "onesheet; fwd=miss\(stored)"
        case .revalidated: "onesheet; fwd=stale\(stored); detail=revalidated"
        case .staleOnError: "onesheet; fwd=stale; detail=stale-if-error"
        }
    }

    /// `Server-Timing` (W3C Server Timing).
    private var serverTiming: String {
        answer.timings.map { "\($0.stage);dur=\(($0.milliseconds * 1000).rounded() / 1000)" }.joined(separator: ", ")
    }
}

extension CacheEntry {
    /// `Last-Modified`: that of the original at its origin, so that all servers send the same. `nil` if the origin gives none, or one that
    /// may be later than `Date` (RFC 9110 §8.8.2.1).
    fileprivate var lastModified: Date? {
        let asked = provenance.askedAt ?? created
        guard let text = freshness?.lastModified, let date = HTTPDate.parse(text, now: asked), date <= asked - Self.clockLag else {
            return nil
        }
        return date
    }

    /// Seconds by which the clock of `Date`, which ticks once a second, may be behind.
    private static let clockLag: TimeInterval = 2
}

extension ImageResponse {
    /// The usual extension of the image's format.
    private var fileExtension: String {
        let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif, .gif, .svg]
        return formats.first { $0.mediaType == answer.entry.mediaType }?.extensions.first
            ?? answer.entry.mediaType.cut(at: "/").map { String($0.after) } ?? "bin"
    }
}

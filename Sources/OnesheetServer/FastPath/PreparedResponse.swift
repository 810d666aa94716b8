import OnesheetHTTP
import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHPACK
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// A response that an event loop can send at once.
enum ReadyResponse {
    case head(ResponseHead)
    case parts(ResponseHead, ReadyBody)
    /// Head and body in one file.
    case whole(ReadyFile, ResponseHead)

    var head: ResponseHead {
        switch self {
        case .head(let head), .parts(let head, _), .whole(_, let head): head
        }
    }

    /// The bytes of the body, on connections that send no files. `nil` if there is no body.
    var body: ByteBuffer? {
        switch self {
        case .head, .whole: nil
        case .parts(_, let body): body.bytes
        }
    }

    /// Bytes of the body.
    var length: Int {
        switch self {
        case .head: 0
        case .parts(_, let body): body.length
        case .whole(let file, let head): file.region.readableBytes - head.bytes.readableBytes
        }
    }
}

/// The body of a response that an event loop can send at once.
enum ReadyBody {
    case bytes(ByteBuffer)
    case file(ReadyFile)

    /// In bytes.
    var length: Int {
        switch self {
        case .bytes(let bytes): bytes.readableBytes
        case .file(let file): file.region.readableBytes
        }
    }

    /// The bytes. `nil` if reading the file would block.
    var bytes: ByteBuffer? {
        switch self {
        case .bytes(let bytes): bytes
        case .file(let file): file.read()
        }
    }
}

/// A response head for clients that send no `Origin`.
final class ResponseHead {
    /// The fields with `Date`.
    let fields: HTTPResponse
    /// The fields for HTTP/2 (RFC 9113 §8.3.2).
    private(set) lazy var block = Self.block(fields)
    /// The head with its final empty line, for HTTP/1.1 (RFC 9112 §4).
    private(set) lazy var bytes = Self.bytes(fields)

    init(_ response: Response, _ common: CommonFields, at now: Date) {
        var response = response
        common.apply(to: &response.headers, origin: nil)
        response.headers[.date] = HTTPDate.text(now)
        fields = response.head
    }

    private static func block(_ head: HTTPResponse) -> HPACKHeaders {
        var block: HPACKHeaders = [":status": "\(head.status.code)"]
        for field in head.headerFields { block.add(name: field.name.canonicalName, value: field.value) }
        return block
    }

    private static func bytes(_ head: HTTPResponse) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeString("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for field in head.headerFields { buffer.writeString("\(field.name.rawName): \(field.value)\r\n") }
        buffer.writeString("\r\n")
        return buffer
    }
}

/// The response heads of one entry. They are created once a second and reused for every request in that second.
///
/// `ImageResponse` creates them, as it does for all other requests.
final class PreparedResponse {
    /// The head of the full response.
    let head: ResponseHead
    /// The open file that holds the body.
    private(set) var file: ReadyFile?
    /// An in-memory file with head and body, once it is worth creating.
    private var whole: ReadyFile?
    private var uses = 0
    /// The head of the 304 response, created at the first conditional request.
    private var notModified: ResponseHead?
    /// Without the body, which would stay in memory after the tier evicts it.
    private let image: ImageResponse
    /// The `ETag` field's value.
    private let entityTag: ByteBuffer
    private let tier: String
    /// Counts the images of its tier.
    let counter: OutcomeCounters.Counter
    /// The period in which the heads are valid.
    private let time: Range<Date>

    /// - Parameter now: the current time. The heads are valid until its second is over or the entry becomes stale.
    /// - Returns: `nil` if the entry is stale.
    init?(_ hit: CacheHit, at now: Date, _ common: CommonFields, facts: AddressFacts, counter: OutcomeCounters.Counter) {
        guard let answer = ImageAnswer(freshHit: hit, at: now)?.withoutBody else { return nil }
        image = ImageResponse(answer: answer, address: facts)
        var full = image.response(to: .get, [:], at: now)
        full.headers[.contentLength] = "\(answer.size)"
        head = ResponseHead(full, common, at: now)
        self.counter = counter
        tier = hit.tier
        entityTag = ByteBuffer(string: EntityTags.field(image.validator))
        // `Date` (RFC 9110 §6.6.1) has a resolution of one second. The lower bound also detects a clock that was set back.
        let second = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        time = (second..<second.addingTimeInterval(1)).clamped(to: .distantPast..<(hit.entry.freshUntil ?? .distantFuture))
    }

    /// Whether the heads are valid for `hit` at `now`.
    func isGood(for hit: CacheHit, at now: Date) -> Bool {
        isGood(at: now) && image.validator == hit.entry.validator && tier == hit.tier
    }

    /// Whether the heads are valid at `now` for the entry they were created for.
    func isGood(at now: Date) -> Bool { time.contains(now) }

    /// Whether the client already has the entry (RFC 9110 §13).
    func isKnown(to request: SimpleRequest) -> Bool {
        guard request.isConditional else { return false }
        // Almost every client sends back the entity tag as it is. `If-Modified-Since` does not count then (RFC 9110 §13.2.2).
        return request.ifNoneMatch == entityTag || image.preconditions(request.conditions).outcome == .notModified
    }

    /// The head of the 304 response.
    func notModified(at now: Date, _ common: CommonFields) -> ResponseHead {
        if let notModified { return notModified }
        let head = ResponseHead(image.notModified(at: now), common, at: now)
        notModified = head
        return head
    }

    /// Keeps `file` open in `files` for the following requests, if there is room.
    func keep(_ file: ReadyFile, in files: OpenFileCache) {
        if files.keep(self, length: file.region.readableBytes) { self.file = file }
    }

    /// The full response as one file, once it has been requested often enough to be worth writing the file.
    func whole(with body: ReadyBody, in files: OpenFileCache) -> ReadyFile? {
        if let whole { return whole }
        uses += 1
        // One send saves about a fifth of the cost of writing. Retry every eighth request: room or memory may be available later.
        guard uses.isMultiple(of: 8) else { return nil }
        whole = files.memoryFile(head.bytes, body, for: self)
        return whole
    }

    func closeFiles() { (file, whole) = (nil, nil) }
}

import OnesheetHTTP
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// A response that an event loop sends at once.
enum ReadyResponse {
    case head(ResponseHead)
    case parts(ResponseHead, ReadyBody)
    /// Head and body are in one file.
    case whole(ReadyFile)
}

/// What is sent after a head.
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

    /// `nil` if a file would have to be waited for.
    var bytes: ByteBuffer? {
        switch self {
        case .bytes(let bytes): bytes
        case .file(let file): file.read()
        }
    }
}

/// A response's head as it is sent to clients that do not name an origin.
final class ResponseHead {
    /// With its date, for HTTP/2.
    let fields: HTTPResponse
    /// With its empty line, for HTTP/1.1 (RFC 9112 §4).
    private(set) lazy var bytes = Self.bytes(fields)

    init(_ response: Response, _ cors: CORS, at now: Date) {
        var response = response
        cors.apply(to: &response.headers, origin: nil)
        response.headers[.date] = HTTPDate.text(now)
        fields = response.head
    }

    private static func bytes(_ head: HTTPResponse) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeString("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for field in head.headerFields where head.status != .notModified || field.name != .contentLength {
            buffer.writeString("\(field.name.rawName): \(field.value)\r\n")
        }
        buffer.writeString("\r\n")
        return buffer
    }
}

/// The heads with which an entry is answered, written once for all requests of one second.
///
/// They are made by the code that answers all other requests.
final class PreparedResponse {
    /// The whole response's head.
    let head: ResponseHead
    /// Where the body is, if it is sent from a file that is kept open.
    private(set) var file: ReadyFile?
    /// Head and body in a file of memory, if that is worth it.
    private var whole: ReadyFile?
    private var uses = 0
    /// The head of “not modified”, once somebody asked.
    private var notModified: ResponseHead?
    // Not the entry: it would keep the body alive that its tier lets go of.
    private let validator: String
    private let created: Date
    private let tier: String
    /// While the heads are right.
    private let time: Range<Date>

    /// - Parameter now: the present moment. The heads hold until its second is over, or until the entry is not fresh any more.
    /// - Returns: `nil` unless the entry is fresh.
    init?(_ hit: CacheHit, at now: Date, cors: CORS, facts: AddressFacts) {
        guard let answer = ImageAnswer(freshHit: hit, at: now) else { return nil }
        var full = ImageResponse(answer: answer, address: facts).response(to: .get, [:], at: now)
        full.headers[.contentLength] = "\(answer.size)"
        head = ResponseHead(full, cors, at: now)
        (validator, created, tier) = (hit.entry.validator, hit.entry.created, hit.tier)
        // For so long the same `Date` field (RFC 9110 §6.6.1) is sent. Moments before it are those of a clock that was set back.
        let second = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        time = (second..<second.addingTimeInterval(1)).clamped(to: .distantPast..<answer.freshUntil)
    }

    /// Whether the heads are right for `hit` at `now`.
    func isGood(for hit: CacheHit, at now: Date) -> Bool {
        isGood(at: now) && validator == hit.entry.validator && tier == hit.tier
    }

    /// Whether the heads are right at `now` for the entry that they were made for.
    func isGood(at now: Date) -> Bool { time.contains(now) }

    /// Whether the client has the entry already (RFC 9110 §13).
    func isKnown(to request: SimpleRequest) -> Bool {
        guard request.isConditional else { return false }
        var fields = HTTPFields()
        fields[.ifNoneMatch] = request.ifNoneMatch.map { String(buffer: $0) }
        fields[.ifModifiedSince] = request.ifModifiedSince.map { String(buffer: $0) }
        return Preconditions(fields: fields, validator: validator, modified: created).outcome == .notModified
    }

    /// The head for clients that have the entry already.
    /// - Returns: `nil` unless `hit` is fresh.
    func notModified(_ hit: CacheHit, at now: Date, cors: CORS, facts: AddressFacts) -> ResponseHead? {
        if let notModified { return notModified }
        guard let answer = ImageAnswer(freshHit: hit, at: now) else { return nil }
        let response = ImageResponse(answer: answer, address: facts).response(to: .get, [.ifNoneMatch: "*"], at: now)
        notModified = ResponseHead(response, cors, at: now)
        return notModified
    }

    /// Lets `files` keep `file` open for the next requests, if it has room.
    func keep(_ file: ReadyFile, in files: OpenFileCache) {
        if files.keep(self, length: file.region.readableBytes) { self.file = file }
    }

    /// The whole response as one file, once it was asked for so often that writing the file has been worth it.
    func whole(with body: ReadyBody, in files: OpenFileCache) -> ReadyFile? {
        if let whole { return whole }
        uses += 1
        // Sending saves about a fifth of what writing takes. If there was no room or no memory, there may be some later.
        guard uses.isMultiple(of: 8) else { return nil }
        whole = files.memoryFile(head.bytes, body, for: self)
        return whole
    }

    func closeFiles() { (file, whole) = (nil, nil) }
}

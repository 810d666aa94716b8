import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP1
import OnesheetCore
import OnesheetHTTP

/// A request with its response, for the access log.
struct LoggedRequest: Sendable {
    enum Head: Sendable {
        /// A complete HTTP/1.1 head that `SimpleRequest` recognises.
        case bytes(ByteBuffer)
        case parsed(RequestFacts)
        /// The parser could not read it.
        case unreadable
    }

    /// The status of a request whose client left before its response began, as nginx writes it.
    static let clientLeft = 499

    let head: Head
    /// The connection's other end. `nil` on a Unix socket.
    let peer: IPAddress?
    var status = clientLeft
    /// Bytes of the body that were written.
    var bytes = 0
    /// `Cache-Status` of the response (RFC 9211).
    var cacheStatus: String?
    /// `X-Request-Id` of the response, which only errors have.
    var requestID: String?
    /// The time from its arrival to the end of its response.
    var duration = TimeAmount.zero

    /// The memory of the texts in bytes, roughly.
    var size: Int {
        let head =
            switch head {
            case .bytes(let bytes): bytes.readableBytes
            case .parsed(let facts): facts.size
            case .unreadable: 0
            }
        return 256 + head + (cacheStatus?.utf8.count ?? 0) + (requestID?.utf8.count ?? 0)
    }

    /// Adds the facts in the head of its response.
    mutating func note(_ head: HTTPResponse) {
        status = head.status.code
        (cacheStatus, requestID) = (head.headerFields[.cacheStatus], head.headerFields[.requestID])
    }

    /// Adds the facts in the head of its HTTP/1 response.
    mutating func note(_ head: HTTPResponseHead) {
        status = Int(head.status.code)
        cacheStatus = head.headers.first(name: HTTPField.Name.cacheStatus.rawName)
        requestID = head.headers.first(name: HTTPField.Name.requestID.rawName)
    }
}

/// The facts that the access log has of a request.
struct RequestFacts: Sendable, Equatable {
    var method: String
    /// Path and query as sent.
    var target: String
    /// `HTTP/1.1`, for example.
    var version: String
    private static let http2 = "HTTP/2.0"
    private(set) var referer: String?
    private(set) var userAgent: String?
    private(set) var forwardedFor: String?
    private(set) var forwarded: String?
    private(set) var traceParent: String?

    /// - Parameter head: the head of an HTTP/2 request.
    init(_ head: HTTPTypes.HTTPRequest) {
        method = head.method.rawValue
        target = head.path ?? ""
        version = Self.http2
        let fields = head.headerFields
        referer = fields[.referer]
        userAgent = fields[.userAgent]
        forwardedFor = fields[.forwardedFor]
        forwarded = fields[.forwarded]
        traceParent = fields[.traceParent]
    }

    /// - Parameter head: the head of an HTTP/2 request.
    init(_ head: HPACKHeaders) {
        method = ""
        target = ""
        version = Self.http2
        for (name, value, _) in head {
            switch name {
            case ":method": method = value
            case ":path": target = value
            default: note(name, value)
            }
        }
    }

    init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        target = head.uri
        version = "HTTP/\(head.version.major).\(head.version.minor)"
        for (name, value) in head.headers { note(name.lowercased(), value) }
    }

    /// - Parameter head: a complete HTTP/1.1 head that `SimpleRequest` recognises.
    init(_ head: ByteBuffer) {
        let lines = String(buffer: head).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        method = words.first.map(String.init) ?? ""
        target = words.dropFirst().first.map(String.init) ?? ""
        version = words.last.map(String.init) ?? ""
        for line in lines.dropFirst() {
            guard let (name, value) = line.cut(at: ":") else { continue }
            note(name.lowercasedASCII(), String(value.drop { $0 == " " }))
        }
    }

    private mutating func note(_ name: String, _ value: String) {
        switch name {
        case "referer": referer = value
        case "user-agent": userAgent = value
        case "x-forwarded-for": forwardedFor = forwardedFor.map { "\($0), \(value)" } ?? value
        case "forwarded": forwarded = forwarded.map { "\($0), \(value)" } ?? value
        // Two of them are no trace.
        case "traceparent": traceParent = traceParent == nil ? value : ""
        default: break
        }
    }

    fileprivate var size: Int {
        [method, target, referer, userAgent, forwardedFor, forwarded, traceParent].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}

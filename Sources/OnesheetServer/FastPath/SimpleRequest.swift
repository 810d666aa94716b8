import HTTPTypes
import NIOCore
import NIOHPACK

/// A `GET` or `HEAD` request without a body. Its only header fields that affect the response are those stored here.
///
/// Created from HTTP/1.1 bytes without a parser, or from the head of an HTTP/2 stream. The parser handles every other request.
struct SimpleRequest {
    /// The bytes that hold the parts. On HTTP/1.1, other requests may follow this one.
    private let bytes: ByteBuffer
    private let layout: RequestLayout

    var isHead: Bool { layout.isHead }
    /// Whether the client asks to close the connection after the response (RFC 9112 §9.6). `false` on HTTP/2.
    var isLast: Bool { layout.isLast }
    /// The path, percent-encoded, and the query.
    var target: ByteBuffer { slice(layout.target) }
    var accept: ByteBuffer? { layout.accept.map(slice) }
    var acceptEncoding: ByteBuffer? { layout.acceptEncoding.map(slice) }
    var ifNoneMatch: ByteBuffer? { layout.ifNoneMatch.map(slice) }
    var ifModifiedSince: ByteBuffer? { layout.ifModifiedSince.map(slice) }
    /// The length of the request with its final empty line, in bytes. 0 for a decoded head.
    var length: Int { layout.length }

    /// Whether the response depends on the client's cached copy.
    var isConditional: Bool { layout.ifNoneMatch != nil || layout.ifModifiedSince != nil }

    /// The header fields with its preconditions.
    var conditions: HTTPFields {
        var fields = HTTPFields()
        fields[.ifNoneMatch] = ifNoneMatch.map { String(buffer: $0) }
        fields[.ifModifiedSince] = ifModifiedSince.map { String(buffer: $0) }
        return fields
    }

    /// Longer requests are rare, and caching their targets would take too much memory.
    private static let limit = 8192
    private static let targetLimit = 1024

    /// Recognises a complete HTTP/1.1 request (RFC 9112).
    /// - Parameter received: bytes from a connection. Further requests may follow the first.
    init?(_ received: ByteBuffer) {
        guard
            let layout = RequestLayout(received.readableBytesUInt8Span.extracting(first: Self.limit), targetLimit: Self.targetLimit)
        else {
            return nil
        }
        bytes = received
        self.layout = layout
    }

    /// Whether `received` may be the beginning of a simple request whose rest has not arrived.
    static func mayBegin(_ received: ByteBuffer) -> Bool {
        let bytes = received.readableBytesUInt8Span
        guard bytes.count < limit, bytes.isBeginning(of: "GET /") || bytes.isBeginning(of: "HEAD /") else { return false }
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") {
            // A line may end only with both (RFC 9112 §2.2), and an empty line ends the head.
            guard index > 0, bytes[index - 1] == UInt8(ascii: "\r"), !bytes.has("\r\n\r", at: index - 3) else { return false }
        }
        return true
    }

    /// Recognises the head of an HTTP/2 request without a body. `RequestFields` has checked its pseudo-header fields.
    init?(_ head: HPACKHeaders) {
        var bytes = ByteBuffer()
        var layout = RequestLayout()
        var (method, path): (String?, String?)
        for (name, value, _) in head {
            switch name {
            case ":method": method = value
            case ":path": path = value
            case ":scheme", ":authority": break
            default:
                switch Field(name.utf8Span.span) {
                case .accept: guard RequestLayout.fill(&layout.accept, bytes.append(value)) else { return nil }
                case .acceptEncoding: guard RequestLayout.fill(&layout.acceptEncoding, bytes.append(value)) else { return nil }
                case .ifNoneMatch: guard RequestLayout.fill(&layout.ifNoneMatch, bytes.append(value)) else { return nil }
                case .ifModifiedSince: guard RequestLayout.fill(&layout.ifModifiedSince, bytes.append(value)) else { return nil }
                case .host, .ignored: break
                case .connection, nil: return nil
                }
            }
        }
        guard let path, path.utf8.count <= Self.targetLimit, path.utf8.first == UInt8(ascii: "/"),
            path.utf8.allSatisfy(RequestLayout.isTargetByte)
        else { return nil }
        switch method {
        case "GET": layout.isHead = false
        case "HEAD": layout.isHead = true
        default: return nil
        }
        layout.target = bytes.append(path)
        self.bytes = bytes
        self.layout = layout
    }

    private func slice(_ range: Range<Int>) -> ByteBuffer {
        bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    }
}

extension ByteBuffer {
    /// Writes `text`.
    /// - Returns: its position among the readable bytes.
    fileprivate mutating func append(_ text: String) -> Range<Int> {
        let start = readableBytes
        writeString(text)
        return start..<readableBytes
    }
}

/// The positions of a request's parts among its bytes.
private struct RequestLayout {
    var isHead = false
    private(set) var isLast = false
    var target = 0..<0
    var accept: Range<Int>?
    var acceptEncoding: Range<Int>?
    var ifNoneMatch: Range<Int>?
    var ifModifiedSince: Range<Int>?
    private(set) var length = 0

    init() {}

    /// Parses HTTP/1.1 bytes.
    init?(_ bytes: Span<UInt8>, targetLimit: Int) {
        if bytes.has("GET ", at: 0) { isHead = false } else if bytes.has("HEAD ", at: 0) { isHead = true } else { return nil }
        let start = isHead ? 5 : 4
        target = start..<bytes.end(from: start, while: Self.isTargetByte, skipping: \.endsTarget)
        guard !target.isEmpty, target.count <= targetLimit, bytes[start] == UInt8(ascii: "/"),
            bytes.has(" HTTP/1.1\r\n", at: target.upperBound)
        else { return nil }
        length = target.upperBound + 11
        var hasHost = false
        while !bytes.has("\r\n", at: length) {
            let name = length..<bytes.end(from: length, while: { $0 != UInt8(ascii: ":") }, skipping: \.endsName)
            guard name.upperBound < bytes.count, let field = Field(bytes.extracting(name)) else { return nil }
            let first = bytes.end(from: name.upperBound + 1) { $0 == 0x20 }
            let value = first..<bytes.end(from: first, while: Self.isValueByte, skipping: \.endsValue)
            guard bytes.has("\r\n", at: value.upperBound) else { return nil }
            switch field {
            case .host:
                guard !hasHost, !value.isEmpty, value.allSatisfy({ HeadCheck.isHostByte(bytes[$0]) }) else { return nil }
                hasHost = true
            case .connection:
                let value = bytes.extracting(value)
                if value.isName("close") { isLast = true } else if !value.isName("keep-alive") { return nil }
            case .accept: guard Self.fill(&accept, value) else { return nil }
            case .acceptEncoding: guard Self.fill(&acceptEncoding, value) else { return nil }
            case .ifNoneMatch: guard Self.fill(&ifNoneMatch, value) else { return nil }
            case .ifModifiedSince: guard Self.fill(&ifModifiedSince, value) else { return nil }
            case .ignored: break
            }
            length = value.upperBound + 2
        }
        guard hasHost else { return nil }
        length += 2
    }

    /// Sets the position of a field. Returns `false` if the field occurs twice, because such a request is not simple.
    static func fill(_ place: inout Range<Int>?, _ value: Range<Int>) -> Bool {
        guard place == nil else { return false }
        place = value
        return true
    }

    static func isTargetByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    private static func isValueByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F || byte == 0x09 }
}

extension EightBytes {
    /// The bytes for which `RequestLayout.isTargetByte` is false.
    fileprivate var endsTarget: Matches { below(0x21) | above(0x7E) | equal(to: UInt8(ascii: "#")) }
    /// The end of a field's name.
    fileprivate var endsName: Matches { equal(to: UInt8(ascii: ":")) }
    /// The bytes for which `RequestLayout.isValueByte` is false, and tabs.
    fileprivate var endsValue: Matches { below(0x20) | above(0x7E) }
}

/// The meaning of a header field for the response or the connection. A request with any other field is not simple.
private enum Field {
    case host, connection, accept, acceptEncoding, ifNoneMatch, ifModifiedSince
    /// Has no effect on the response to a request for an image, nor on a document for everyone.
    case ignored

    /// - Parameter name: a field name in any case.
    init?(_ name: Span<UInt8>) {
        switch name.count {
        case 4 where name.isName("host"): self = .host
        case 6 where name.isName("accept"): self = .accept
        case 10 where name.isName("connection"): self = .connection
        case 13 where name.isName("if-none-match"): self = .ifNoneMatch
        case 15 where name.isName("accept-encoding"): self = .acceptEncoding
        case 17 where name.isName("if-modified-since"): self = .ifModifiedSince
        default:
            guard Self.ignores(name) else { return nil }
            self = .ignored
        }
    }

    private static func ignores(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 3: name.isName("dnt") || name.isName("via")
        case 6: name.isName("cookie") || name.isName("pragma")
        case 7: name.isName("referer") || name.isName("sec-gpc")
        case 8: name.isName("priority")
        case 9: name.isName("sec-ch-ua") || name.isName("save-data") || name.isName("forwarded") || name.isName("x-real-ip")
        case 10: name.isName("user-agent") || name.isName("tracestate")
        case 11: name.isName("traceparent")
        case 12: name.isName("x-request-id")
        case 13: name.isName("cache-control") || name.isName("authorization")
        case 14:
            name.isName("sec-fetch-dest") || name.isName("sec-fetch-mode") || name.isName("sec-fetch-site")
                || name.isName("sec-fetch-user")
        case 15: name.isName("accept-language") || name.isName("x-forwarded-for")
        case 16: name.isName("sec-ch-ua-mobile") || name.isName("x-forwarded-host")
        case 17: name.isName("x-forwarded-proto")
        case 18: name.isName("sec-ch-ua-platform")
        default: false
        }
    }
}

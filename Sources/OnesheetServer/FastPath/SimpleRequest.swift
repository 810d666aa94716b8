import HTTPTypes
import NIOCore
import NIOHPACK

/// A `GET` or `HEAD` request without query and body. Its only header fields that affect the response are those stored here.
///
/// Created from HTTP/1.1 bytes without a parser, or from the head of an HTTP/2 stream. The parser handles every other request.
struct SimpleRequest {
    let isHead: Bool
    /// The path, percent-encoded.
    let target: ByteBuffer
    private(set) var accept: ByteBuffer?
    private(set) var ifNoneMatch: ByteBuffer?
    private(set) var ifModifiedSince: ByteBuffer?
    /// The length of the request with its final empty line, in bytes. 0 for a decoded head.
    let length: Int

    /// Whether the response depends on the client's cached copy.
    var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }

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
        func slice(_ range: Range<Int>) -> ByteBuffer {
            received.getSlice(at: received.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
        }
        isHead = layout.isHead
        length = layout.length
        target = slice(layout.target)
        accept = layout.accept.map(slice)
        ifNoneMatch = layout.ifNoneMatch.map(slice)
        ifModifiedSince = layout.ifModifiedSince.map(slice)
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

    /// Recognises the head of an HTTP/2 request without a body. NIO has checked its pseudo-header fields (RFC 9113 §8.3.1).
    init?(_ head: HPACKHeaders) {
        var (method, path): (String?, String?)
        for (name, value, _) in head {
            switch name {
            case ":method": method = value
            case ":path": path = value
            case ":scheme", ":authority": break
            default:
                switch Field(name.utf8Span.span) {
                case .host, .ignored: break
                case .accept: guard Self.fill(&accept, ByteBuffer(string: value)) else { return nil }
                case .ifNoneMatch: guard Self.fill(&ifNoneMatch, ByteBuffer(string: value)) else { return nil }
                case .ifModifiedSince: guard Self.fill(&ifModifiedSince, ByteBuffer(string: value)) else { return nil }
                case .connection, nil: return nil
                }
            }
        }
        guard let path, path.utf8.count <= Self.targetLimit, path.utf8.first == UInt8(ascii: "/"),
            path.utf8.allSatisfy(RequestLayout.isTargetByte)
        else { return nil }
        switch method {
        case "GET": isHead = false
        case "HEAD": isHead = true
        default: return nil
        }
        target = ByteBuffer(string: path)
        length = 0
    }

    /// Sets `field`. Returns `false` if the field occurs twice, because such a request is not simple.
    fileprivate static func fill<Value>(_ field: inout Value?, _ value: Value) -> Bool {
        guard field == nil else { return false }
        field = value
        return true
    }
}

/// The positions of a request's parts in the HTTP/1.1 bytes.
private struct RequestLayout {
    let isHead: Bool
    let target: Range<Int>
    private(set) var accept: Range<Int>?
    private(set) var ifNoneMatch: Range<Int>?
    private(set) var ifModifiedSince: Range<Int>?
    private(set) var length: Int

    init?(_ bytes: Span<UInt8>, targetLimit: Int) {
        if bytes.has("GET ", at: 0) { isHead = false } else if bytes.has("HEAD ", at: 0) { isHead = true } else { return nil }
        let start = isHead ? 5 : 4
        target = start..<bytes.end(from: start, while: Self.isTargetByte)
        guard !target.isEmpty, target.count <= targetLimit, bytes[start] == UInt8(ascii: "/"),
            bytes.has(" HTTP/1.1\r\n", at: target.upperBound)
        else { return nil }
        length = target.upperBound + 11
        var hasHost = false
        while !bytes.has("\r\n", at: length) {
            let name = length..<bytes.end(from: length, while: Self.isNameByte)
            guard bytes.has(":", at: name.upperBound), let field = Field(bytes.extracting(name)) else { return nil }
            let first = bytes.end(from: name.upperBound + 1) { $0 == 0x20 }
            let value = first..<bytes.end(from: first, while: Self.isValueByte)
            guard bytes.has("\r\n", at: value.upperBound) else { return nil }
            switch field {
            case .host:
                guard !hasHost, !value.isEmpty, value.allSatisfy({ HeadCheck.isHostByte(bytes[$0]) }) else { return nil }
                hasHost = true
            case .connection: guard bytes.extracting(value).isName("keep-alive") else { return nil }
            case .accept: guard SimpleRequest.fill(&accept, value) else { return nil }
            case .ifNoneMatch: guard SimpleRequest.fill(&ifNoneMatch, value) else { return nil }
            case .ifModifiedSince: guard SimpleRequest.fill(&ifModifiedSince, value) else { return nil }
            case .ignored: break
            }
            length = value.upperBound + 2
        }
        guard hasHost else { return nil }
        length += 2
    }

    static func isTargetByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }

    /// The bytes of known field names. RFC 9110 allows more in a token.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    private static func isValueByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F || byte == 0x09 }
}

/// The meaning of a header field for the response. A request with any other field is not simple.
private enum Field {
    case host, connection, accept, ifNoneMatch, ifModifiedSince
    /// Has no effect on the response to an image request.
    case ignored

    private static let ignoredNames: [StaticString] = [
        "user-agent", "accept-encoding", "accept-language", "referer", "cookie", "dnt", "priority", "pragma", "cache-control",
        "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-ch-ua", "sec-ch-ua-mobile",
        "sec-ch-ua-platform", "sec-gpc", "save-data", "via", "forwarded", "x-forwarded-for", "x-forwarded-proto",
        "x-forwarded-host", "x-real-ip", "x-request-id", "traceparent", "tracestate",
    ]

    /// - Parameter name: a field name in any case.
    init?(_ name: Span<UInt8>) {
        switch name.count {
        case 4 where name.isName("host"): self = .host
        case 6 where name.isName("accept"): self = .accept
        case 10 where name.isName("connection"): self = .connection
        case 13 where name.isName("if-none-match"): self = .ifNoneMatch
        case 17 where name.isName("if-modified-since"): self = .ifModifiedSince
        default:
            guard Self.ignoredNames.contains(where: { name.isName($0) }) else { return nil }
            self = .ignored
        }
    }
}

extension Span<UInt8> {
    /// Whether `text` begins at `start`.
    fileprivate func has(_ text: StaticString, at start: Int) -> Bool {
        guard start >= 0, count - start >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[start + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Whether `text` begins with these bytes, or these bytes with `text`.
    fileprivate func isBeginning(of text: StaticString) -> Bool {
        for index in 0..<Swift.min(count, text.utf8CodeUnitCount) where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// The index after the run of bytes from `start` that satisfy `condition`.
    fileprivate func end(from start: Int, while condition: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, condition(self[end]) { end += 1 }
        return end
    }

    /// Compares with `name`, which is in lower case, ignoring case.
    fileprivate func isName(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in 0..<count {
            let byte = self[index]
            let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isCapital ? byte | 0x20 : byte) == name.utf8Start[index] else { return false }
        }
        return true
    }
}

/// A request so plain that it needs no parser: a complete `GET` or `HEAD` of HTTP/1.1 (RFC 9112) without a query or a body, whose
/// header fields are all known to change nothing here. Whatever is not surely that is not recognised, and is the parser's.
struct PlainRequest: Equatable {
    /// Places in the bytes that were recognised.
    typealias Place = Range<Int>

    let isHead: Bool
    let target: Place
    private(set) var accept: Place?
    private(set) var ifNoneMatch: Place?
    private(set) var ifModifiedSince: Place?
    /// How many bytes the request takes, with its empty line.
    private(set) var length: Int

    /// Whether the answer depends on what the client has.
    var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }

    /// Longer requests are rare, and remembering their targets would take much memory.
    private static let limit = 8192
    private static let targetLimit = 1024

    /// - Parameter received: what a connection sent; more requests may follow the first.
    init?(_ received: Span<UInt8>) {
        let bytes = received.extracting(first: Self.limit)
        if bytes.has("GET ", at: 0) { isHead = false } else if bytes.has("HEAD ", at: 0) { isHead = true } else { return nil }
        let start = isHead ? 5 : 4
        target = start..<bytes.end(from: start, while: Self.isTargetByte)
        guard !target.isEmpty, target.count <= Self.targetLimit, bytes[start] == UInt8(ascii: "/"),
            bytes.has(" HTTP/1.1\r\n", at: target.upperBound)
        else { return nil }
        length = target.upperBound + 11
        var hasHost = false
        while !bytes.has("\r\n", at: length) {
            let name = length..<bytes.end(from: length, while: Self.isNameByte)
            guard bytes.has(":", at: name.upperBound), let field = PlainField(bytes.extracting(name)) else { return nil }
            let first = bytes.end(from: name.upperBound + 1) { $0 == 0x20 }
            let value = first..<bytes.end(from: first, while: Self.isValueByte)
            guard bytes.has("\r\n", at: value.upperBound) else { return nil }
            switch field {
            case .host:
                guard !hasHost, !value.isEmpty, value.allSatisfy({ HeadCheck.isHostByte(bytes[$0]) }) else { return nil }
                hasHost = true
            case .connection: guard bytes.extracting(value).isName("keep-alive") else { return nil }
            case .accept: guard Self.fill(&accept, value) else { return nil }
            case .ifNoneMatch: guard Self.fill(&ifNoneMatch, value) else { return nil }
            case .ifModifiedSince: guard Self.fill(&ifModifiedSince, value) else { return nil }
            case .ignored: break
            }
            length = value.upperBound + 2
        }
        guard hasHost else { return nil }
        length += 2
    }

    /// A field that is there twice is not plain any more.
    private static func fill(_ field: inout Place?, _ value: Place) -> Bool {
        guard field == nil else { return false }
        field = value
        return true
    }

    private static func isTargetByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }

    /// What the names of plain fields are made of; RFC 9110's tokens are more.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    private static func isValueByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F || byte == 0x09 }
}

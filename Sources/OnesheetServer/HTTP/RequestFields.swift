import NIOCore
import NIOHPACK
import OnesheetCore

/// Checks the fields of an HTTP/2 request (RFC 9113 §8.2 and §8.3). A request that breaks these rules is malformed, and its stream ends.
///
/// NIO could check them, but compares some values as text, which takes milliseconds for one with thousands of marks (`isStreamSafe`).
enum RequestFields {
    /// Pseudo-header fields of a request.
    private struct Pseudo: OptionSet {
        let rawValue: UInt8
        static let method = Self(rawValue: 1)
        static let scheme = Self(rawValue: 2)
        static let path = Self(rawValue: 4)
        static let authority = Self(rawValue: 8)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init?(_ name: String) {
            // Of any other length it is none of these. Long names would take long to compare (`isStreamSafe`).
            guard name.utf8.count <= 10 else { return nil }
            switch name {
            case ":method": self = .method
            case ":scheme": self = .scheme
            case ":path": self = .path
            case ":authority": self = .authority
            default: return nil
            }
        }
    }

    /// Whether `fields` are the head of a request.
    static func areHead(_ fields: HPACKHeaders) -> Bool {
        var seen: Pseudo = []
        var (isRegular, isConnect) = (false, false)
        var length: Int?
        for (name, value, _) in fields {
            guard Self.isValue(value) else { return false }
            guard name.utf8.first == UInt8(ascii: ":") else {
                guard Self.isAllowed(name, value) else { return false }
                isRegular = true
                if name == "host", !Self.isHost(value) { return false }
                if name == "content-length" {
                    guard let number = Self.number(value), length ?? number == number else { return false }
                    length = number
                }
                continue
            }
            // Pseudo-header fields come first, and each once.
            guard !isRegular, let pseudo = Pseudo(name), seen.isDisjoint(with: pseudo), pseudo == .authority || !value.isEmpty
            else { return false }
            seen.formUnion(pseudo)
            if pseudo == .authority, !Self.isHost(value) { return false }
            if pseudo == .method {
                guard value.utf8Span.span.isToken(allowsUppercase: true) else { return false }
                isConnect = value == "CONNECT"
            }
        }
        let needed: Pseudo = isConnect ? [.method, .authority] : [.method, .scheme, .path]
        return seen.isSuperset(of: needed) && (!isConnect || seen == needed)
    }

    /// Whether `fields` are trailers, among which a pseudo-header field is not allowed.
    static func areTrailers(_ fields: HPACKHeaders) -> Bool {
        fields.allSatisfy { isValue($0.value) && isAllowed($0.name, $0.value) }
    }

    /// Whether a request may have the field `name` (RFC 9113 §8.2.1 and §8.2.2).
    private static func isAllowed(_ name: String, _ value: String) -> Bool {
        guard name.utf8Span.span.isToken(allowsUppercase: false) else { return false }
        switch name {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": return false
        case "te": return value == "trailers"
        default: return true
        }
    }

    /// Whether `text` has no control characters, no blanks at its ends, and can be compared fast (`isStreamSafe`).
    private static func isValue(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        guard bytes.count > 0 else { return true }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        if isBlank(bytes[0]) || isBlank(bytes[bytes.count - 1]) { return false }
        var isASCII = true
        for index in bytes.indices {
            if bytes[index] < 0x20 && bytes[index] != 0x09 || bytes[index] == 0x7F { return false }
            if bytes[index] >= 0x80 { isASCII = false }
        }
        return isASCII || text.isStreamSafe
    }

    /// Whether `text` has only the bytes of a host, as `HeadCheck` wants it on HTTP/1.1.
    private static func isHost(_ text: String) -> Bool { text.utf8.allSatisfy(HeadCheck.isHostByte) }

    /// A number of digits alone.
    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text) : nil
    }
}

extension Span<UInt8> {
    /// Whether these are the characters of a name (RFC 9110 §5.6.2).
    fileprivate func isToken(allowsUppercase: Bool) -> Bool {
        guard count > 0 else { return false }
        for index in indices {
            switch self[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): continue
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): if !allowsUppercase { return false }
            case UInt8(ascii: "!"), 0x23...0x27, UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "."), 0x5E...0x60,
                UInt8(ascii: "|"), UInt8(ascii: "~"):
                continue
            default: return false
            }
        }
        return true
    }
}

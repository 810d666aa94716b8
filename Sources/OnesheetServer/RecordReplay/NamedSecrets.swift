import OnesheetAddress
import OnesheetCore

/// Removes from texts what is named as a secret: parameters of the URLs in them, and members of JSON. Everything else keeps its bytes.
struct NamedSecrets {
    private let placeholder: [UInt8]

    init(placeholder: String) { self.placeholder = Array(placeholder.utf8) }

    // MARK: Parameters

    /// The text without the values of parameters that are named as secrets, in URLs of JSON, HTML, XML and header fields.
    func parametersRemoved(from text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var copied = 0
        for sign in bytes.indices where bytes[sign] == UInt8(ascii: "=") {
            guard sign >= copied, let name = Self.name(before: sign, in: bytes), SecretNames.isOne(name) else { continue }
            var end = sign + 1
            while end < bytes.count, !Self.endsValue(bytes[end]) || Self.isSlash(at: end, in: bytes) {
                end += Self.isSlash(at: end, in: bytes) ? 2 : 1
            }
            result += bytes[copied...sign] + placeholder
            copied = end
        }
        return copied == 0 ? text : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The name of the parameter whose equals sign is at `sign`; `nil` if it is none of a URL.
    private static func name(before sign: Int, in bytes: [UInt8]) -> String? {
        var start = sign
        while start > 0, isInName(bytes[start - 1]) { start -= 1 }
        guard start > 0, start < sign else { return nil }
        var name = String(decoding: bytes[start..<sign], as: UTF8.self)
        switch bytes[start - 1] {
        case UInt8(ascii: "?"), UInt8(ascii: "&"): break
        // As JSON may write both.
        case UInt8(ascii: "\\"):
            guard ["u0026", "u003f"].contains(name.prefix(5).lowercased()) else { return nil }
            name = String(name.dropFirst(5))
        // As HTML and XML write it.
        case UInt8(ascii: ";"):
            let before = bytes[max(0, start - 6)..<start]
            guard ["&amp;", "&#38;", "&#x26;"].contains(where: { before.suffix($0.utf8.count).elementsEqual($0.utf8) }) else {
                return nil
            }
        default: return nil
        }
        do throws(RequestError) { return try PercentEncoding.decode(name) } catch { return name }
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_-.%[]$".utf8.contains(byte)
        }
    }

    private static func endsValue(_ byte: UInt8) -> Bool { byte <= 0x20 || "&#\"'<>\\)".utf8.contains(byte) }

    /// Whether there is a slash as PHP writes it in JSON.
    private static func isSlash(at index: Int, in bytes: [UInt8]) -> Bool {
        bytes[index] == UInt8(ascii: "\\") && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/")
    }

    // MARK: Members

    /// The text without the values of members of JSON that are named as secrets: their texts, numbers, and all texts of lists and objects.
    func membersRemoved(from text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var (index, copied, depth) = (0, 0, 0)
        /// The depth of the list or object whose texts are removed.
        var hidden: Int?
        func replace(_ range: Range<Int>, by new: [UInt8]) {
            result += bytes[copied..<range.lowerBound] + new
            copied = range.upperBound
        }
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if let outer = hidden, depth <= outer { hidden = nil }
            case UInt8(ascii: "\""):
                let token = Self.token(at: index, in: bytes)
                var next = Self.next(after: token.upperBound + 1, in: bytes)
                guard next < bytes.count, bytes[next] == UInt8(ascii: ":") else {
                    if hidden != nil { replace(token, by: placeholder) }
                    index = token.upperBound + 1
                    continue
                }
                next = Self.next(after: next + 1, in: bytes)
                index = next
                guard next < bytes.count, Self.isSecret(String(decoding: bytes[token], as: UTF8.self)) else { continue }
                switch bytes[next] {
                case UInt8(ascii: "\""):
                    let value = Self.token(at: next, in: bytes)
                    replace(value, by: placeholder)
                    index = value.upperBound + 1
                case UInt8(ascii: "{"), UInt8(ascii: "["): hidden = hidden ?? depth
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    let end = bytes[next...].firstIndex { !"-+.eE0123456789".utf8.contains($0) } ?? bytes.count
                    replace(next..<end, by: [UInt8(ascii: "0")])
                    index = end
                default: break
                }
                continue
            default: break
            }
            index += 1
        }
        return copied == 0 ? text : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The bytes between the quotation mark at `index` and the next one that is not escaped, or the end.
    private static func token(at index: Int, in bytes: [UInt8]) -> Range<Int> {
        var end = index + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return (index + 1)..<min(end, bytes.count)
    }

    private static func next(after index: Int, in bytes: [UInt8]) -> Int {
        var index = index
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
        return index
    }

    /// Databases call the ids of their records keys too. These are Plex's.
    private static let keysOfRecords = ["key", "parentkey", "grandparentkey"]

    private static func isSecret(_ name: String) -> Bool {
        guard SecretNames.isOne(name) else { return false }
        let letters = String(name.lowercased().unicodeScalars.filter { ("a"..."z").contains($0) })
        return !keysOfRecords.contains(letters) && !letters.hasSuffix("ratingkey")
    }
}

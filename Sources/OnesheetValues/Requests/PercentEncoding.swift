/// Percent-encodes text for URLs (RFC 3986 §2.1).
public enum PercentEncoding {
    /// `text` as UTF-8 with all bytes escaped except unreserved ones (letters, digits, `-._~`). It fits any part of a URL.
    public static func encode(_ text: some StringProtocol) -> String { encode(bytes: text.utf8) }

    /// The same for arbitrary bytes.
    public static func encode(bytes: some Sequence<UInt8>) -> String {
        var encoded: [UInt8] = []
        for byte in bytes {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Names and values as a query, without the question mark: `key=value&other=value`. Omits pairs without a value.
    public static func query(_ pairs: KeyValuePairs<String, String?>) -> String {
        pairs.compactMap { name, value in value.map { "\(encode(name))=\(encode($0))" } }.joined(separator: "&")
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Decodes percent-encoded text.
    /// - Throws: `RequestError.malformed` for a broken escape, bytes that are not UTF-8, or text that no address may have
    ///   (`isSafeInAddresses`).
    package static func decode(_ text: some StringProtocol) throws(RequestError) -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2, rest.first != UInt8(ascii: "+")
            else {
                throw .malformed("“\(text)” is not properly percent-encoded")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), decoded.isSafeInAddresses else {
            throw .malformed("“\(text)” is not properly percent-encoded")
        }
        return decoded
    }

    /// Encodes an id as the last segment of a poster's path. Dots are escaped as well, because the extension follows the last dot.
    package static func encode(id: String) -> String {
        encode(id).split(separator: ".", omittingEmptySubsequences: false).joined(separator: "%2E")
    }
}

extension PercentEncoding {
    /// Decodes percent-encoded text.
    /// - Throws: `RequestError.malformed` for a broken escape, bytes that are not UTF-8, or control characters.
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
        guard let decoded = String(validating: bytes, as: UTF8.self),
            !decoded.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw .malformed("“\(text)” is not properly percent-encoded")
        }
        return decoded
    }

    /// Encodes an id as the last segment of a poster's path. Dots are escaped as well, because the extension follows the last dot.
    package static func encode(id: String) -> String {
        encode(id).split(separator: ".", omittingEmptySubsequences: false).joined(separator: "%2E")
    }
}

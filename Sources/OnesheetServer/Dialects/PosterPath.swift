import OnesheetCore

/// A poster by size, source and id, as in `/t/p/w342/sample/1.jpg`.
struct PosterPath {
    let title: TitleReference
    let transform: Transform
    /// Whether the client's `Accept` decides the format.
    let negotiates: Bool

    /// - Parameter path: what follows `/t/p/`, percent-encoded.
    init(_ path: Substring, _ options: ImageOptions) throws(RequestError) {
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else {
            throw .malformed("a poster is at /t/p/{size}/{source}/{id}.{extension}, such as /t/p/w342/sample/1.jpg")
        }
        var transform = try SizeLadder.transform(parts[0])
        var id = parts[2]
        if let dot = id.lastIndex(of: "."), !id[dot...].contains("/") {
            transform.format = try options.format(id[id.index(after: dot)...])
            id = id[..<dot]
        }
        title = TitleReference(source: try PercentEncoding.decode(parts[1]), id: try PercentEncoding.decode(id))
        negotiates = transform.format == nil && parts[0] != "original"
        self.transform = transform
    }
}

/// Percent-encoding (RFC 3986 §2.1).
enum PercentEncoding {
    /// - Throws: `RequestError.malformed` for a broken escape, bytes that are not UTF-8, or control characters.
    static func decode(_ text: some StringProtocol) throws(RequestError) -> String {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2, rest.first != UInt8(ascii: "+") else {
                throw .malformed("“\(text)” is not properly percent-encoded")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .malformed("“\(text)” is not properly percent-encoded")
        }
        return decoded
    }

    /// Encodes all but unreserved characters.
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

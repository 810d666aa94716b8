/// The path of a request for logs and errors: a URL in it, percent-encoded up to twice or not at all, loses its query and fragment, which
/// may hold keys, and with them the rest of the path.
package func shown(path: String) -> String {
    let bytes = Array(path.lowercasedASCII().utf8)
    guard let start = bytes.indices.lazy.compactMap({ afterScheme(in: bytes, at: $0) }).first,
        let end = bytes[start...].indices.first(where: {
            EncodedMark.question.end(in: bytes, at: $0) != nil || EncodedMark.hash.end(in: bytes, at: $0) != nil
        })
    else { return path }
    return String(decoding: path.utf8.prefix(end), as: UTF8.self)
}

/// The position after `http:/` or `https:/` at `position`. One slash suffices, because proxies merge slashes.
private func afterScheme(in bytes: [UInt8], at position: Int) -> Int? {
    guard bytes[position] == UInt8(ascii: "h"), bytes[position...].starts(with: "http".utf8) else { return nil }
    var end = position + 4
    if end < bytes.count, bytes[end] == UInt8(ascii: "s") { end += 1 }
    return EncodedMark.colon.end(in: bytes, at: end).flatMap { EncodedMark.slash.end(in: bytes, at: $0) }
}

/// An ASCII character in a path: as it is, percent-encoded, or percent-encoded twice.
private struct EncodedMark {
    static let colon = Self(":", "3a")
    static let slash = Self("/", "2f")
    static let question = Self("?", "3f")
    static let hash = Self("#", "23")

    private let forms: [[UInt8]]

    private init(_ mark: String, _ digits: String) { forms = [mark, "%\(digits)", "%25\(digits)"].map { Array($0.utf8) } }

    /// The position after the character at `position`. `nil` if there is another one, or none.
    func end(in bytes: [UInt8], at position: Int) -> Int? {
        forms.first { bytes[position...].starts(with: $0) }.map { position + $0.count }
    }
}

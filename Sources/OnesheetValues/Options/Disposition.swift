#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How a browser shows an image: on a page, or as a file to save, and the name of that file.
public struct Disposition: Sendable, Equatable {
    /// Whether a browser offers to save the image.
    public var isAttachment = false
    /// The name of the file without its extension.
    public var name: String?

    public init(isAttachment: Bool = false, name: String? = nil) {
        self.isAttachment = isAttachment
        self.name = name
    }

    /// The maximum length of a name in bytes. File systems allow 255; the rest is room for the extension.
    private static let longestName = 240

    /// Parses the arguments of `fn`: percent-encoded text, or base64url if the second one is true.
    init?(_ option: inout OptionArguments, isAttachment: Bool) throws(RequestError) {
        guard let text = option.text() else { return nil }
        let isBase64 = try option.flag() ?? false
        let name =
            try isBase64 ? Data(base64URL: text).flatMap { String(bytes: $0, encoding: .utf8) } : PercentEncoding.decode(text)
        guard let name, !name.isEmpty, name.utf8.count <= Self.longestName, !name.contains(mark: "/"),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw .bad(option: option.name, value: String(text), reason: "is not a file name")
        }
        self.init(isAttachment: isAttachment, name: name)
    }

    /// `Content-Disposition` (RFC 6266). If the name is not ASCII, an ASCII version for old clients comes first.
    /// - Parameters:
    ///   - title: names the file if `name` is `nil`.
    ///   - fileExtension: the extension of the image's format.
    package func field(for title: TitleReference, fileExtension: String) -> String {
        let last = title.id.pieces(at: "/").last.map { $0.cut(at: "?")?.before ?? $0 }
        let usual = last.map { $0.cut(atLast: ".")?.before ?? $0 }.map(String.init) ?? ""
        let file = "\(name ?? (usual.isEmpty ? "image" : usual)).\(fileExtension)"
        let plain = String(
            decoding: file.utf8.map { byte -> UInt8 in
                let isPlain = byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                return isPlain ? byte : UInt8(ascii: "_")
            }, as: UTF8.self)
        let exact = plain.isExactly(file) ? "" : "; filename*=UTF-8''\(PercentEncoding.encode(file))"
        return "\(isAttachment ? "attachment" : "inline"); filename=\"\(plain)\"\(exact)"
    }
}

/// A kind of file that people request as a poster and that may have no codec in a server.
package enum ForeignFormat: String, Sendable, CaseIterable {
    case gif = "GIF"
    case webp = "WebP"
    case avif = "AVIF"
    case heic = "HEIC"
    case jxl = "JPEG XL"
    case jp2 = "JPEG 2000"
    case tiff = "TIFF"
    case bmp = "BMP"
    case ico = "ICO"
    case svg = "SVG"
    case pdf = "PDF"
    case html = "HTML"

    /// The package trait with which Onesheet reads it; `nil` if it never does.
    private var trait: String? {
        switch self {
        case .gif, .webp, .avif, .heic, .tiff: rawValue
        case .jxl: "JXL"
        case .jp2, .bmp, .ico, .svg, .pdf, .html: nil
        }
    }

    /// The extensions of such pictures, in lower case without the dot; none for documents.
    package var extensions: [String] {
        switch self {
        case .gif: ["gif"]
        case .webp: ["webp"]
        case .avif: ["avif"]
        case .heic: ["heic", "heif"]
        case .jxl: ["jxl"]
        case .jp2: ["jp2", "jpx", "j2k", "j2c"]
        case .tiff: ["tif", "tiff"]
        case .bmp: ["bmp"]
        case .ico: ["ico"]
        case .svg: ["svg"]
        case .pdf, .html: []
        }
    }

    /// The kind of a file that begins with `bytes`; `nil` if it is none of these.
    package init?(of bytes: Span<UInt8>) {
        let start = bytes.withUnsafeBufferPointer { Array($0.prefix(1024)) }
        func has(_ text: String, at place: Int = 0) -> Bool { start.dropFirst(place).starts(with: text.utf8) }
        if has("GIF8") {
            self = .gif
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webp
        } else if has("ftyp", at: 4), let boxed = Self.boxed(start) {
            self = boxed
        } else if start.starts(with: [0xFF, 0x0A]) || start.starts(with: [0, 0, 0, 12] + Array("JXL \r\n".utf8)) {
            self = .jxl
        } else if start.starts(with: [0, 0, 0, 12] + Array("jP  \r\n".utf8)) || start.starts(with: [0xFF, 0x4F, 0xFF, 0x51]) {
            // The signature box and the codestream (ISO/IEC 15444-1, I.5.1 and A.4.1).
            self = .jp2
        } else if has("II*\0") || has("MM\0*") || has("II+\0") || has("MM\0+") {
            self = .tiff
        } else if has("BM"), start.dropFirst(6).starts(with: [0, 0, 0, 0]) {
            self = .bmp
        } else if start.starts(with: [0, 0, 1, 0]), start.count > 4, start[4] > 0 {
            self = .ico
        } else if has("%PDF-") {
            self = .pdf
        } else if let text = Self.text(start) {
            self = text
        } else {
            return nil
        }
    }

    /// The kind of an ISO base media file (ISO/IEC 14496-12), by its major and compatible brands.
    private static func boxed(_ start: [UInt8]) -> Self? {
        let size = start.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let brands = stride(from: 8, to: min(size, start.count) - 3, by: 4).filter { $0 != 12 }
            .map { String(decoding: start[$0..<($0 + 4)], as: UTF8.self) }
        if brands.contains(where: { ["avif", "avis"].contains($0) }) { return .avif }
        return brands.contains { ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"].contains($0) } ? .heic : nil
    }

    /// The kind of a file of text.
    private static func text(_ start: [UInt8]) -> Self? {
        let text = String(decoding: start, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }.lowercased()
        guard text.hasPrefix("<") else { return nil }
        if text.contains("<svg") { return text.hasPrefix("<html") || text.hasPrefix("<!doctype html") ? .html : .svg }
        return text.hasPrefix("<html") || text.hasPrefix("<!doctype html") ? .html : nil
    }
}

extension ForeignFormat: CustomStringConvertible {
    package var description: String {
        let what =
            switch self {
            case .html: "the bytes are a page of HTML and not an image"
            case .pdf: "the bytes are a PDF document and not an image"
            case .svg: "the bytes are an SVG drawing and not an image; only logos may be"
            case .gif, .webp, .avif, .heic, .jxl, .jp2, .tiff, .bmp, .ico: "the bytes are an image in the format \(rawValue)"
            }
        guard let trait else { return extensions.isEmpty || self == .svg ? what : "\(what), which Onesheet does not read" }
        return "\(what), for which this server has no codec; Onesheet's is built with the package trait \(trait)"
    }
}

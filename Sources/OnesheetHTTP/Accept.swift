package import OnesheetCore

/// Negotiates an image format with a client's `Accept` header (RFC 9110 §12.5.1): the one with the highest quality, and of several the one
/// with the smallest files, AVIF before WebP before JPEG.
///
/// Formats newer than JPEG and PNG are only sent to clients that name them, because old clients also send a wildcard.
package struct Accept: Sendable {
    /// The formats that can be negotiated, the default first.
    package let formats: [ImageFormat]
    /// The formats, those with smaller files first.
    private let ordered: [ImageFormat]

    package init(formats: [ImageFormat]) {
        self.formats = formats
        let small = [ImageFormat.avif, .webp].filter(formats.contains)
        ordered = small + formats.filter { !small.contains($0) }
    }

    package func choose(_ header: String?) -> ImageFormat {
        let fallback = formats.first ?? .jpeg
        guard let header, !header.isEmpty else { return fallback }
        let ranges = header.pieces(at: ",").compactMap(Range.init)
        var best = (format: fallback, quality: 0.0)
        for format in ordered {
            let quality = ranges.filter { $0.names(format) }.map(\.quality).max() ?? wildcard(ranges, format)
            if quality > best.quality { best = (format, quality) }
        }
        return best.format
    }

    /// The quality of a wildcard. It matches only JPEG and PNG, which every client reads, and counts half as much as a named
    /// format.
    private func wildcard(_ ranges: [Range], _ format: ImageFormat) -> Double {
        guard format == .jpeg || format == .png else { return 0 }
        // `image/*` is more specific than `*/*` (RFC 9110 §12.5.1).
        let wildcard = ranges.first { $0.type == "image/*" } ?? ranges.first { $0.type == "*/*" }
        return (wildcard?.quality ?? 0) * 0.5
    }

    private struct Range {
        let type: String
        let quality: Double

        init?(_ text: Substring) {
            let parts = text.pieces(at: ";").map { part in
                String(decoding: part.utf8.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).lowercasedASCII()
            }
            guard let type = parts.first else { return nil }
            self.type = type
            let weight = parts.dropFirst().first { $0.starts(withBytesOf: "q=") }
            quality = weight.flatMap { Double($0.dropFirst(bytes: 2)) }.map { $0.isNaN ? 0 : min(max($0, 0), 1) } ?? 1
        }

        func names(_ format: ImageFormat) -> Bool { type == format.mediaType }
    }
}

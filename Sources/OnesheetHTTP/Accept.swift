package import OnesheetCore

/// Negotiates an image format with a client's `Accept` header (RFC 9110 §12.5.1): AVIF or WebP if the client names them, otherwise the
/// format of the original, unless the client prefers JPEG or PNG.
package struct Accept: Sendable {
    /// The formats that can be negotiated.
    package let formats: [ImageFormat]
    /// Newer formats that can be negotiated, those with smaller files first. Only clients that name them get them, because old clients also
    /// send a wildcard.
    private let newer: [ImageFormat]

    package init(formats: [ImageFormat]) {
        self.formats = formats
        newer = [.avif, .webp].filter(formats.contains)
    }

    /// - Returns: the format with the highest quality; of several the one with the smallest files. `nil` is the original's: the client
    ///   reads JPEG and PNG equally well, or has no wish that can be met.
    package func choose(_ header: String?) -> ImageFormat? {
        guard let header, !header.isEmpty else { return nil }
        let ranges = header.pieces(at: ",").compactMap(Range.init)
        func quality(_ format: ImageFormat) -> Double? { ranges.filter { $0.names(format) }.map(\.quality).max() }
        var best = (format: ImageFormat?.none, quality: 0.0)
        for format in newer {
            let quality = quality(format) ?? 0
            if quality > best.quality { best = (format, quality) }
        }
        let (jpeg, png) = (quality(.jpeg) ?? wildcard(ranges), quality(.png) ?? wildcard(ranges))
        guard max(jpeg, png) > best.quality else { return best.format }
        let preferred: ImageFormat? = jpeg == png ? nil : jpeg > png ? .jpeg : .png
        return preferred.flatMap { formats.contains($0) ? $0 : nil }
    }

    /// The quality of a wildcard, which counts half as much as a named format.
    private func wildcard(_ ranges: [Range]) -> Double {
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

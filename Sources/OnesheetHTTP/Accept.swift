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

    /// - Parameter unfit: formats that cannot hold the image.
    /// - Returns: the format with the highest quality; of several the one with the smallest files. `nil` is the original's: the client
    ///   reads JPEG and PNG equally well, or has no wish that can be met.
    package func choose(_ header: String?, without unfit: Set<ImageFormat> = []) -> ImageFormat? {
        let ranges = WeightedValues(header)
        func quality(_ format: ImageFormat) -> Double? { ranges.quality(of: format.mediaType) }
        var best = (format: ImageFormat?.none, quality: 0.0)
        for format in newer where !unfit.contains(format) {
            let quality = quality(format) ?? 0
            if quality > best.quality { best = (format, quality) }
        }
        // A wildcard counts half as much as a named format. `image/*` is more specific than `*/*` (RFC 9110 §12.5.1).
        let wildcard = (ranges.quality(of: "image/*") ?? ranges.quality(of: "*/*") ?? 0) * 0.5
        let (jpeg, png) = (quality(.jpeg) ?? wildcard, quality(.png) ?? wildcard)
        guard max(jpeg, png) > best.quality else { return best.format }
        let preferred: ImageFormat? = jpeg == png ? nil : jpeg > png ? .jpeg : .png
        return preferred.flatMap { formats.contains($0) && !unfit.contains($0) ? $0 : nil }
    }
}

#if TIFF
    internal import OnesheetCore

    /// Converts rows of stored samples, one byte each, to rows of pixels.
    struct TIFFPixels: ~Copyable {
        private let form: TIFFForm
        private let channels: Int
        /// The converted row.
        private(set) var row: [UInt8]

        init(_ form: TIFFForm) {
            self.form = form
            channels = form.layout.planes[0].channels
            row = [UInt8](repeating: 0, count: form.width * channels)
        }

        /// Converts the stored samples from `start` on.
        mutating func convert(_ stored: [UInt8], from start: Int) {
            let (samples, colors, channels, alpha) = (form.samples, form.colorSamples, channels, form.alpha)
            let hasAlpha = alpha != .none
            for x in 0..<form.width {
                let (from, to) = (start + x * samples, x * channels)
                switch form.colors {
                case .gray(let isInverted): row[to] = isInverted ? 255 - stored[from] : stored[from]
                case .palette(let palette):
                    for channel in 0..<3 { row[to + channel] = palette[Int(stored[from]) * 3 + channel] }
                case .rgb, .cmyk:
                    for channel in 0..<colors { row[to + channel] = stored[from + channel] }
                }
                guard hasAlpha else { continue }
                let opacity = stored[from + colors]
                row[to + channels - 1] = opacity
                guard alpha == .premultiplied else { continue }
                for channel in 0..<(channels - 1) { row[to + channel] = Self.unmultiplied(row[to + channel], opacity) }
            }
        }

        private static func unmultiplied(_ value: UInt8, _ alpha: UInt8) -> UInt8 {
            guard alpha > 0 else { return 0 }
            return UInt8(min(255, (Int(value) * 255 + Int(alpha) / 2) / Int(alpha)))
        }
    }
#endif

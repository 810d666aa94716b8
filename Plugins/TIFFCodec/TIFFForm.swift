#if TIFF
    internal import OnesheetCore

    /// The form of a file's samples.
    struct TIFFForm {
        /// The meaning of a pixel's first samples.
        enum Colors {
            /// - Parameter isInverted: whether 0 is white.
            case gray(isInverted: Bool)
            case rgb
            /// Red, green and blue for each index, 256 of them.
            case palette([UInt8])
            case cmyk
        }

        /// The meaning of the sample after the colours.
        enum Alpha {
            case none, straight, premultiplied
        }

        /// The most samples of a pixel beyond its colours.
        static let mostExtraSamples = 2
        /// The side of tiles that may exceed the picture.
        static let smallTile = 512

        let width: Int
        let height: Int
        /// All samples of a pixel.
        let samples: Int
        /// Bits of a sample: 1, 2, 4, 8 or 16.
        let bits: Int
        let colors: Colors
        let alpha: Alpha
        /// Whether each sample has a plane of its own.
        let isSeparate: Bool
        /// `nil` if the file has strips.
        let tile: (width: Int, height: Int)?
        let rowsPerStrip: Int
        let isJPEG: Bool

        var model: ColorModel {
            switch colors {
            case .gray: .gray
            case .rgb, .palette: .rgb
            case .cmyk: .cmyk
            }
        }

        var layout: PixelLayout {
            PixelLayout(width: width, height: height, model: model, hasAlpha: alpha != .none)
        }

        /// The samples of a pixel's colours as stored.
        var colorSamples: Int {
            if case .palette = colors { 1 } else { model.channels }
        }

        /// Rows that are read together.
        var bandHeight: Int {
            if let tile { return min(tile.height, height) }
            return isSeparate ? min(rowsPerStrip, height) : 1
        }

        /// Whether more than a row is in memory.
        var needsManyRows: Bool { isSeparate || tile != nil || isJPEG }
    }
#endif

#if TIFF
    internal import CTIFF
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

    extension TIFFForm {
        /// Compressions that libtiff decodes row by row and that are not known for trouble.
        private static let compressions: Set<Int32> = [
            COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4, COMPRESSION_LZW, COMPRESSION_JPEG,
            COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_ZSTD,
        ]

        /// Reads the tags of a directory.
        /// - Throws: `CodecError.unsupported` for a form that this codec does not read.
        init(_ file: OpaquePointer) throws(CodecError) {
            func short(_ tag: Int32, or absent: Int = 0) -> Int { Int(ctiff_short(file, UInt32(tag), UInt32(absent))) }
            func long(_ tag: Int32) -> Int { Int(ctiff_long(file, UInt32(tag), 0)) }
            let (width, height) = (long(TIFFTAG_IMAGEWIDTH), long(TIFFTAG_IMAGELENGTH))
            guard width > 0, height > 0, width <= Int32.max, height <= Int32.max else {
                throw .damaged(reason: "\(width) × \(height) are not the sides of an image")
            }
            let compression = Int32(short(TIFFTAG_COMPRESSION, or: 1))
            guard Self.compressions.contains(compression), TIFFIsCODECConfigured(UInt16(compression)) == 1 else {
                throw .unsupported("the compression \(compression) in TIFF")
            }
            let kind = short(TIFFTAG_SAMPLEFORMAT, or: 1)
            guard kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID else {
                throw .unsupported("samples in TIFF that are not whole numbers from 0")
            }
            let (samples, bits) = (short(TIFFTAG_SAMPLESPERPIXEL, or: 1), short(TIFFTAG_BITSPERSAMPLE, or: 1))
            let isJPEG = compression == COMPRESSION_JPEG
            let colors = try Self.colors(file, short(TIFFTAG_PHOTOMETRIC, or: 0xFFFF), bits: bits, isJPEG: isJPEG)
            let colorSamples = if case .palette = colors { 1 } else { Self.channels(colors) }
            guard samples >= colorSamples, samples <= colorSamples + Self.mostExtraSamples else {
                throw .unsupported("\(samples) samples a pixel in TIFF")
            }
            guard [1, 2, 4, 8, 16].contains(bits) else { throw .unsupported("\(bits) bits a sample in TIFF") }
            let rows = long(TIFFTAG_ROWSPERSTRIP)
            self.width = width
            self.height = height
            self.samples = samples
            self.bits = bits
            self.colors = colors
            self.isJPEG = isJPEG
            rowsPerStrip = rows == 0 ? height : rows
            isSeparate = samples > 1 && short(TIFFTAG_PLANARCONFIG, or: 1) == PLANARCONFIG_SEPARATE
            alpha = samples > colorSamples ? Self.alpha(file) : .none
            tile = try Self.tile(file, width: width, height: height)
        }

        private static func channels(_ colors: Colors) -> Int {
            switch colors {
            case .gray: 1
            case .rgb, .palette: 3
            case .cmyk: 4
            }
        }

        private static func colors(
            _ file: OpaquePointer, _ photometric: Int, bits: Int, isJPEG: Bool
        ) throws(CodecError) -> Colors {
            switch Int32(photometric) {
            case PHOTOMETRIC_MINISWHITE: return .gray(isInverted: true)
            case PHOTOMETRIC_MINISBLACK: return .gray(isInverted: false)
            case PHOTOMETRIC_RGB: return .rgb
            case PHOTOMETRIC_PALETTE: return .palette(try palette(file, bits: bits))
            case PHOTOMETRIC_SEPARATED:
                guard ctiff_short(file, UInt32(TIFFTAG_INKSET), 1) == INKSET_CMYK else {
                    throw .unsupported("inks other than CMYK in TIFF")
                }
                return .cmyk
            case PHOTOMETRIC_YCBCR:
                guard isJPEG else { throw .unsupported("YCbCr in TIFF without JPEG") }
                guard ctiff_convert_jpeg(file) else { throw .unsupported("YCbCr in TIFF without libjpeg") }
                return .rgb
            case PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB, PHOTOMETRIC_ITULAB: throw .unsupported("L*a*b* in TIFF")
            default: throw .unsupported("the photometric interpretation \(photometric) in TIFF")
            }
        }

        /// The palette's 256 colours. Indices outside are black.
        private static func palette(_ file: OpaquePointer, bits: Int) throws(CodecError) -> [UInt8] {
            guard bits <= 8 else { throw .unsupported("palette indices of \(bits) bits in TIFF") }
            var red: UnsafePointer<UInt16>?
            var green: UnsafePointer<UInt16>?
            var blue: UnsafePointer<UInt16>?
            guard ctiff_palette(file, &red, &green, &blue), let red, let green, let blue else {
                throw .damaged(reason: "there is no palette")
            }
            let indices = 0..<(1 << bits)
            // Some writers store 8 bits where the format has 16.
            let isShort = indices.allSatisfy { red[$0] < 256 && green[$0] < 256 && blue[$0] < 256 }
            let colors = indices.flatMap { [red[$0], green[$0], blue[$0]] }.map { UInt8(isShort ? $0 : $0 >> 8) }
            return colors + [UInt8](repeating: 0, count: 768 - colors.count)
        }

        private static func alpha(_ file: OpaquePointer) -> Alpha {
            var count: UInt16 = 0
            guard let kinds = ctiff_extra_samples(file, &count), count > 0 else { return .none }
            return switch Int32(kinds[0]) {
            case EXTRASAMPLE_ASSOCALPHA: .premultiplied
            case EXTRASAMPLE_UNASSALPHA: .straight
            default: .none
            }
        }

        /// The size of tiles, which must not exceed the picture by much: memory is predicted from the picture.
        private static func tile(
            _ file: OpaquePointer, width: Int, height: Int
        ) throws(CodecError) -> (width: Int, height: Int)? {
            guard TIFFIsTiled(file) != 0 else { return nil }
            let tile = (
                width: Int(ctiff_long(file, UInt32(TIFFTAG_TILEWIDTH), 0)),
                height: Int(ctiff_long(file, UInt32(TIFFTAG_TILELENGTH), 0))
            )
            guard tile.width > 0, tile.height > 0 else { throw .damaged(reason: "the tiles have no pixels") }
            guard tile.width < width + smallTile, tile.height < height + smallTile else {
                throw .unsupported("tiles in TIFF that are larger than the image")
            }
            return tile
        }
    }
#endif

/// The facts in a file's header.
public struct ImageHeader: Sendable, Equatable {
    public var format: ImageFormat
    /// Pixels as stored, before orientation.
    public var width: Int
    public var height: Int
    /// The model of the colours in the file.
    public var model: ColorModel
    /// Whether pixels have an opacity.
    public var hasAlpha: Bool
    /// How the picture is to be turned.
    public var orientation: Orientation
    /// The colour space.
    public var colors: ColorDescription
    /// Whether decoding has to hold the whole picture (progressive JPEG, interlaced PNG).
    public var isProgressive: Bool
    /// Passes over the picture that decoding needs according to the header: the scans of a progressive JPEG, otherwise 1.
    public var scans: Int
    /// The copyright notice from EXIF.
    public var copyright: String?
    /// The TIFF structure of the EXIF data, without its marker, for callers that keep metadata.
    public var exif: [UInt8]?

    public init(
        format: ImageFormat, width: Int, height: Int, model: ColorModel, hasAlpha: Bool = false,
        orientation: Orientation = .up, colors: ColorDescription = .sRGB, isProgressive: Bool = false, copyright: String? = nil,
        exif: [UInt8]? = nil, scans: Int = 1
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.model = model
        self.hasAlpha = hasAlpha
        self.orientation = orientation
        self.colors = colors
        self.isProgressive = isProgressive
        self.copyright = copyright
        self.exif = exif
        self.scans = scans
    }

    /// The largest EXIF structure and profile that codecs keep, in bytes; larger ones are ignored. Real profiles, those for
    /// printing, have up to 2.5 MB.
    public static let largestEXIF = 1 << 20
    public static let largestProfile = 4 << 20
}

/// The meaning of a pixel's channels, except alpha.
public enum ColorModel: Sendable, Hashable {
    case gray
    case rgb
    /// Full-range BT.601 as in JFIF (ITU-T T.871).
    case ycbcr
    /// Ink amounts; 255 is full ink.
    case cmyk

    /// Channels of a pixel without alpha.
    public var channels: Int {
        switch self {
        case .gray: 1
        case .rgb, .ycbcr: 3
        case .cmyk: 4
        }
    }
}

/// The colour space of the samples.
public enum ColorDescription: Sendable, Hashable {
    case sRGB
    /// An embedded ICC profile (ISO 15076-1), which may be damaged.
    case icc([UInt8])
    /// A pure power of `gamma` (2.2 for decoding), over primaries and white point as CIE xy; `nil` primaries are sRGB's.
    case gamma(Double, chromaticities: Chromaticities?)
    /// The curve of sRGB (IEC 61966-2-1) over other primaries, such as those of Display P3.
    case primaries(Chromaticities)
}

/// CIE 1931 xy of white and of the three primaries (PNG's cHRM).
public struct Chromaticities: Sendable, Hashable {
    public var white: SIMD2<Double>
    public var red: SIMD2<Double>
    public var green: SIMD2<Double>
    public var blue: SIMD2<Double>

    public init(white: SIMD2<Double>, red: SIMD2<Double>, green: SIMD2<Double>, blue: SIMD2<Double>) {
        self.white = white
        self.red = red
        self.green = green
        self.blue = blue
    }
}

/// The rotation and mirroring that show the stored picture upright (EXIF tag 0x0112; CIPA DC-008 §4.6.4).
public enum Orientation: Int, Sendable, Hashable, CaseIterable {
    case up = 1
    case upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// Whether width and height are swapped.
    public var swapsSides: Bool { rawValue >= 5 }
}

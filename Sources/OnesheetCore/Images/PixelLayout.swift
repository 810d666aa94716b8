/// The layout of a picture's samples: 8 bits each, packed in one plane, or Y, Cb and Cr in three planes.
public struct PixelLayout: Sendable, Equatable {
    /// One plane of samples.
    public struct Plane: Sendable, Equatable {
        public let width: Int
        public let height: Int
        /// Samples of one pixel.
        public let channels: Int
    }

    public let width: Int
    public let height: Int
    public let model: ColorModel
    public let hasAlpha: Bool
    /// Luma pixels per chroma pixel, horizontally and vertically; 1 if packed.
    public let subsampling: (x: Int, y: Int)
    public let planes: [Plane]
    /// The size before rounding up, if a decoder scaled the picture: half of 1001 pixels is 500.5, in 501 samples. Resampling uses
    /// it, because an error of a quarter of a pixel is visible.
    public let exactWidth: Double
    public let exactHeight: Double

    /// A packed picture. An alpha channel comes last and is not premultiplied.
    public init(
        width: Int, height: Int, model: ColorModel, hasAlpha: Bool = false, exactWidth: Double? = nil, exactHeight: Double? = nil
    ) {
        self.width = width
        self.height = height
        self.exactWidth = exactWidth ?? Double(width)
        self.exactHeight = exactHeight ?? Double(height)
        self.model = model
        self.hasAlpha = hasAlpha
        subsampling = (1, 1)
        planes = [Plane(width: width, height: height, channels: model.channels + (hasAlpha ? 1 : 0))]
    }

    /// Y, Cb and Cr in planes of their own.
    ///
    /// - Parameters:
    ///   - x, y: luma pixels per chroma pixel. The size of chroma planes is rounded up, so their last row and column may extend
    ///     past the picture. Resampling uses `exactWidth / x`.
    public init(
        width: Int, height: Int, planarWithSubsampling x: Int, _ y: Int, exactWidth: Double? = nil, exactHeight: Double? = nil
    ) {
        self.width = width
        self.height = height
        self.exactWidth = exactWidth ?? Double(width)
        self.exactHeight = exactHeight ?? Double(height)
        model = .ycbcr
        hasAlpha = false
        subsampling = (x, y)
        let chroma = Plane(width: (width + x - 1) / x, height: (height + y - 1) / y, channels: 1)
        planes = [Plane(width: width, height: height, channels: 1), chroma, chroma]
    }

    public var isPlanar: Bool { planes.count > 1 }

    /// The bytes of all planes together, without the padding of rows.
    public var bytes: Int { planes.reduce(0) { $0 + $1.width * $1.height * $1.channels } }

    public static func == (left: Self, right: Self) -> Bool {
        left.width == right.width && left.height == right.height && left.model == right.model && left.hasAlpha == right.hasAlpha
            && left.subsampling == right.subsampling
    }
}

/// How a picture's samples lie: 8 bits each, packed in one plane, or Y, Cb and Cr in three.
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
    /// Luma pixels per chroma pixel, horizontally and vertically; 1 where packed.
    public let subsampling: (x: Int, y: Int)
    public let planes: [Plane]
    /// The sides before rounding up, where a decoder scaled the picture: 1001 pixels at a half are 500.5, in 501 samples.
    /// Resampling goes by these: a quarter of a pixel too much shows.
    public let exactWidth: Double
    public let exactHeight: Double

    /// A packed picture; alpha, where there is one, is the last channel and not premultiplied.
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
    ///   - x, y: how many luma pixels one chroma pixel covers. Chroma planes round up, and their last row and column may reach past
    ///     the picture: resampling goes by `exactWidth / x`.
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

    /// Bytes of all planes together, rows not padded.
    public var bytes: Int { planes.reduce(0) { $0 + $1.width * $1.height * $1.channels } }

    public static func == (left: Self, right: Self) -> Bool {
        left.width == right.width && left.height == right.height && left.model == right.model && left.hasAlpha == right.hasAlpha
            && left.subsampling == right.subsampling
    }
}

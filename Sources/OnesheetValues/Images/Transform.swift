/// A canonical description of a variant: the operations on an original, their order, and the output.
///
/// The order is fixed: orientation by EXIF, `trim`, `crop`, `rotation` and `flip`, resizing within `maxResultSide`, `blur`, `sharpen`, `pixelates`, `isGray`,
/// `isBitonal`, `extends`, `extendsProportions`, `padding`, `background`, `watermark`, encoding. Transforms with the same meaning are equal values.
/// `TransformOption` describes every property.
public struct Transform: Hashable, Sendable {
    /// How the picture is fitted to the requested box.
    public enum Resizing: String, Hashable, Sendable, CaseIterable {
        /// The whole picture inside the box, in its own proportions.
        case fit
        /// The picture fills the box in its own proportions. The rest is cut off.
        case fill
        /// As `fill`. If the picture is smaller than the box, the box shrinks in its own proportions.
        case fillDown = "fill-down"
        /// Exactly the box, regardless of proportions.
        case force
        /// `fill` if picture and box are both upright or both lie on their side, otherwise `fit`.
        case auto
        /// The smallest size that covers the box, in the picture's own proportions. Nothing is cut off.
        case cover
    }

    /// An even border to cut off.
    public struct Trim: Hashable, Sendable {
        /// The largest difference of a channel from the border's colour, 0 to 255, at which a pixel belongs to the border.
        public var threshold: Double
        /// The colour of the border; `nil` is the colour of the upper left pixel. Transparent pixels count as magenta, `ff00ff`.
        public var color: Color?
        /// Whether both sides are cut equally, by the smaller of the two borders.
        public var isEqualHorizontally: Bool
        public var isEqualVertically: Bool

        public init(threshold: Double, color: Color? = nil, isEqualHorizontally: Bool = false, isEqualVertically: Bool = false) {
            self.threshold = threshold
            self.color = color
            self.isEqualHorizontally = isEqualHorizontally
            self.isEqualVertically = isEqualVertically
        }
    }

    /// A width and a height to cut out: whole pixels, or fractions of the picture below 1. 0 keeps the whole side.
    public struct Crop: Hashable, Sendable {
        public var width: Double
        public var height: Double
        /// `nil` uses the gravity of the transform.
        public var gravity: Gravity?
        /// Whether the longer side is shortened to the other.
        public var isSquare = false
        /// Pixels to cut off on each side, instead of a width and a height; `nil` is none.
        public var insets: Padding?

        public init(width: Double, height: Double, gravity: Gravity? = nil) {
            self.width = width
            self.height = height
            self.gravity = gravity
        }

        /// The largest square in the middle of the picture.
        public static let square = {
            var crop = Crop(width: 0, height: 0, gravity: .center)
            crop.isSquare = true
            return crop
        }()

        /// Cuts off pixels on each side.
        public static func inset(_ insets: Padding) -> Crop {
            var crop = Crop(width: 0, height: 0, gravity: .center)
            crop.insets = insets
            return crop
        }
    }

    /// Pixels added around the picture, or cut off.
    public struct Padding: Hashable, Sendable {
        public var top: Int
        public var right: Int
        public var bottom: Int
        public var left: Int

        public init(top: Int, right: Int, bottom: Int, left: Int) {
            self.top = top
            self.right = right
            self.bottom = bottom
            self.left = left
        }
    }

    public var resizing = Resizing.fit
    /// The sides of the box in pixels, already multiplied by dpr. A side of 0 follows from the other one and the picture's proportions.
    public var width = 0
    public var height = 0
    /// The least size of the output; 0 is no limit.
    public var minWidth = 0
    public var minHeight = 0
    /// The longest side of the output, to which everything is reduced, with padding; 0 is no limit.
    public var maxResultSide = 0
    /// Whether to enlarge a picture that is smaller than the box.
    public var enlarges = false
    /// The position of the picture in a larger box; `nil` does not extend the picture to the box.
    public var extends: Gravity?
    /// The position of the picture on a canvas with the proportions of the box; `nil` adds no canvas.
    public var extendsProportions: Gravity?
    public var gravity = Gravity.center
    public var crop: Crop?
    public var trim: Trim?
    /// Whether the picture is rotated according to its EXIF orientation.
    public var appliesOrientation = true
    /// Factors for the size of the box, or for the size of the picture if there is no box.
    public var zoomX = 1.0
    public var zoomY = 1.0
    /// Degrees clockwise: 0, 90, 180 or 270.
    public var rotation = 0
    public var flipsHorizontally = false
    public var flipsVertically = false
    public var padding: Padding?
    /// The colour behind transparent pixels and of added pixels; `nil` keeps transparency if the format supports it.
    public var background: Color?
    /// The server's watermark; `nil` draws none.
    public var watermark: Watermark?
    /// Standard deviation of a Gaussian blur in pixels of the output; 0 is none.
    public var blur = 0.0
    /// Standard deviation of the unsharp mask in pixels of the output; 0 is none.
    public var sharpen = 0.0
    /// The output format; `nil` is the format of the original.
    public var format: ImageFormat?
    /// Whether an output without `format` is JPEG or PNG, which every client reads, also if the original is in another format.
    public var isForAllClients = false
    /// The side of the squares into which the picture is pixelated, in pixels of the output; 0 and 1 change nothing.
    public var pixelates = 0
    /// Whether only the luminance is kept.
    public var isGray = false
    /// Whether every pixel becomes black or white, by its luminance.
    public var isBitonal = false
    /// Qualities by format that replace `quality`. Empty once the format is known.
    public var qualities: [ImageFormat: Int] = [:]
    /// Originals of these formats are not changed if the output has the same format. Sorted by name, without duplicates.
    public var skips: [ImageFormat] = []
    /// An original with more pixels, or more bytes, is refused; 0 is no limit but the server's own.
    public var maxSourcePixels = 0
    public var maxSourceBytes = 0
    /// 1 to 100.
    public var quality = Transform.defaultQuality
    /// Whether the server finds the quality: the smallest file that looks like a JPEG of `defaultQuality`. `quality` is that number then.
    public var findsQuality = false
    /// The largest size of the output in bytes; the quality is lowered to reach it. 0 is no limit.
    public var maxBytes = 0
    /// Whether EXIF, comments and similar metadata are removed.
    public var stripsMetadata = true
    /// Whether a copyright notice is kept when metadata is removed.
    public var keepsCopyright = false
    /// Whether colours are converted to sRGB and the profile is removed.
    public var convertsToSRGB = true

    public static let defaultQuality = 80

    public init() {}
}

extension Transform {
    /// The same transform for an output in `format`, with the quality for that format.
    package func encoded(in format: ImageFormat) -> Transform {
        var known = self
        (known.format, known.isForAllClients) = (format, false)
        if let own = qualities[format] { (known.quality, known.findsQuality) = (own, false) }
        known.qualities = [:]
        return known
    }
}

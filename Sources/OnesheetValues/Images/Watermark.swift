extension Transform {
    /// The server's watermark on a variant.
    public struct Watermark: Hashable, Sendable {
        /// The place of a watermark.
        public enum Position: Hashable, Sendable {
            /// At a side or a corner, or 0 for the middle: -1 is left or above, 1 is right or below.
            case compass(x: Int, y: Int)
            /// Everywhere, side by side.
            case repeated
        }

        /// 0 to 1, multiplied by the configured opacity.
        public var opacity: Double
        public var position: Position
        /// The distance from the side, or from the middle to larger coordinates; the space between repeated watermarks. Below 1 it is
        /// a fraction of the picture.
        public var offsetX: Double
        public var offsetY: Double
        /// The size in relation to the picture, in which the watermark fits; 0 keeps its own size.
        public var scale: Double
        /// The digest of the watermark's file and configuration, so that another watermark gives another variant.
        public var digest: String

        public init(
            opacity: Double, position: Position = .compass(x: 0, y: 0), offsetX: Double = 0, offsetY: Double = 0, scale: Double = 0,
            digest: String
        ) {
            self.opacity = opacity
            self.position = position
            self.offsetX = offsetX
            self.offsetY = offsetY
            self.scale = scale
            self.digest = digest
        }

        var canonicalText: String {
            let place =
                switch position {
                case .compass(let x, let y): "\(x),\(y)"
                case .repeated: "re"
                }
            return "\(opacity)@\(place)+\(offsetX),\(offsetY)x\(scale)=\(digest)"
        }
    }
}

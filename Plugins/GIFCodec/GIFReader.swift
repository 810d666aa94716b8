#if GIF
    internal import CGIF
    internal import OnesheetCore

    /// The first frame of a file and its place on the canvas.
    struct GIFFrame {
        /// The logical screen, enlarged to hold the whole frame, as browsers do.
        let canvas: (width: Int, height: Int)
        let x: Int
        let y: Int
        let width: Int
        let height: Int
        let isInterlaced: Bool
        /// The index of transparent pixels.
        let transparent: Int?
        /// Red, green, blue and alpha for each of 256 indices. An index outside the map is opaque black.
        let palette: [UInt8]

        /// Whether a pixel may be transparent. Pixels outside the frame are.
        var hasAlpha: Bool { transparent != nil || width < canvas.width || height < canvas.height }
    }

    /// A file up to the pixels of its first frame.
    struct GIFReader: ~Copyable {
        private let stream: GIFStream
        let frame: GIFFrame

        /// The most blocks of extensions before the first frame. A block has up to 255 bytes, so real metadata fit.
        private static let mostBlocks = 1 << 16

        /// - Parameter bytes: must stay in place during the lifetime of this object.
        init(_ bytes: UnsafeBufferPointer<UInt8>, by deadline: Deadline) throws(CodecError) {
            let stream = try GIFStream(bytes, by: deadline)
            let transparent = try Self.transparentIndex(stream)
            try stream.readFrame()
            frame = try Self.frame(stream, transparent: transparent)
            self.stream = stream
        }

        /// Reads the next `frame.width` indices.
        func readLine(_ line: UnsafeMutablePointer<UInt8>) throws(CodecError) {
            try stream.readLine(line, count: frame.width)
        }

        /// Reads all extensions before the first frame. Of several graphic control extensions (GIF89a §23), the last that names a colour
        /// counts, as in other decoders, and so does one with more bytes than it needs.
        private static func transparentIndex(_ stream: borrowing GIFStream) throws(CodecError) -> Int? {
            var index: Int?
            var blocks = 0
            func count() throws(CodecError) {
                blocks += 1
                guard blocks <= mostBlocks else { throw .unsupported("more than \(mostBlocks) blocks before the first frame") }
            }
            while true {
                switch try stream.nextRecord() {
                case IMAGE_DESC_RECORD_TYPE: return index
                case EXTENSION_RECORD_TYPE:
                    // An extension may have no block at all.
                    try count()
                    try stream.readExtension { function, data throws(CodecError) in
                        try count()
                        if function == GRAPHICS_EXT_FUNC_CODE, data.count >= 4, data[0] & 1 == 1 { index = Int(data[3]) }
                    }
                default: throw .damaged(reason: "there is no frame")
                }
            }
        }

        private static func frame(_ stream: borrowing GIFStream, transparent: Int?) throws(CodecError) -> GIFFrame {
            let (image, screen) = (stream.image, stream.screen)
            let (x, y, width, height) = (Int(image.Left), Int(image.Top), Int(image.Width), Int(image.Height))
            guard width > 0, height > 0 else { throw .damaged(reason: "the frame has no pixels") }
            guard let colors = stream.colors else { throw .damaged(reason: "there is no colour map") }
            var palette: [UInt8] = []
            palette.reserveCapacity(1024)
            for index in 0..<256 {
                let color = index < colors.count ? colors[index] : GifColorType(Red: 0, Green: 0, Blue: 0)
                palette += index == transparent ? [0, 0, 0, 0] : [color.Red, color.Green, color.Blue, 255]
            }
            return GIFFrame(
                canvas: (max(screen.width, x + width), max(screen.height, y + height)), x: x, y: y, width: width, height: height,
                isInterlaced: image.Interlace, transparent: transparent, palette: palette)
        }
    }
#endif

import OnesheetCore

/// The luma of a picture, in rows without padding. Transparent pixels are on white.
struct LumaPlane: Equatable {
    let width: Int
    let height: Int
    fileprivate(set) var samples: [UInt8]

    init(width: Int, height: Int, samples: [UInt8]) {
        precondition(samples.count == width * height, "a sample for each pixel")
        self.width = width
        self.height = height
        self.samples = samples
    }

    /// `nil` for inks.
    init?(_ picture: borrowing PixelBuffer, by deadline: Deadline) throws(CodecError) {
        guard var sink = LumaSink(picture.layout, by: deadline) else { return nil }
        for y in 0..<picture.layout.height {
            try picture.withRow(y) { row throws(CodecError) in try sink.row(row, plane: 0, y: y) }
        }
        self = sink.luma
    }

    /// Calls `body` with the first sample of row `y`, which the others follow.
    func withRow(_ y: Int, _ body: (UnsafePointer<UInt8>) -> Void) {
        precondition((0..<height).contains(y), "row \(y) of \(height)")
        samples.withUnsafeBufferPointer { samples in
            if let start = samples.baseAddress { body(start + y * width) }
        }
    }
}

/// Keeps the luma of a decoded picture.
struct LumaSink: RowSink {
    private(set) var luma: LumaPlane
    private var layout: PixelLayout?
    private var watch: DeadlineWatch

    /// For a picture whose layout the decoder will announce.
    init(by deadline: Deadline) {
        luma = LumaPlane(width: 0, height: 0, samples: [])
        watch = DeadlineWatch(deadline)
    }

    /// `nil` for inks.
    fileprivate init?(_ layout: PixelLayout, by deadline: Deadline) {
        self.init(by: deadline)
        start(layout)
        if self.layout == nil { return nil }
    }

    mutating func begin(_ layout: PixelLayout) throws(CodecError) {
        try watch.deadline.check()
        start(layout)
    }

    private mutating func start(_ layout: PixelLayout) {
        guard layout.model != .cmyk else { return }
        self.layout = layout
        let samples = [UInt8](repeating: 0, count: layout.width * layout.height)
        luma = LumaPlane(width: layout.width, height: layout.height, samples: samples)
    }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        guard let layout, plane == 0 else { return }
        try watch.row(samples: samples.count)
        let (width, channels) = (layout.width, layout.planes[0].channels)
        let isColored = layout.model == .rgb
        luma.samples.withUnsafeMutableBufferPointer { all in
            samples.withUnsafeBufferPointer { from in
                guard let from = from.baseAddress, let to = all.baseAddress.map({ $0 + y * width }) else { return }
                guard channels > 1 else { return to.update(from: from, count: width) }
                for x in 0..<width {
                    let pixel = from + x * channels
                    // ITU-T T.871 section 7, as in JPEG encoders.
                    var value =
                        isColored
                        ? (19595 * Int(pixel[0]) + 38470 * Int(pixel[1]) + 7471 * Int(pixel[2]) + 32768) >> 16 : Int(pixel[0])
                    if layout.hasAlpha {
                        let alpha = Int(pixel[channels - 1])
                        value = (value * alpha + 255 * (255 - alpha) + 127) / 255
                    }
                    to[x] = UInt8(value)
                }
            }
        }
    }
}

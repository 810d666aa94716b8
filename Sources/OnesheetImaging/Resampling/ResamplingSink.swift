import OnesheetCore

/// Receives rows during decoding and passes them to a resampler for each variant, so that the picture itself is never stored.
struct ResamplingSink: RowSink, ~Copyable {
    private let make: (PixelLayout) throws(CodecError) -> [PictureResampler]
    private(set) var resamplers: [PictureResampler] = []

    private var watch: DeadlineWatch

    /// - Parameter make: makes the resamplers once the decoder has announced its layout.
    init(by deadline: Deadline, _ make: @escaping (PixelLayout) throws(CodecError) -> [PictureResampler]) {
        self.make = make
        watch = DeadlineWatch(deadline)
    }

    mutating func begin(_ layout: PixelLayout) throws(CodecError) {
        resamplers = try make(layout)
        try watch.deadline.check()
    }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        try watch.row(samples: resamplers.reduce(samples.count) { $0 + $1.samplesPerRow })
        samples.withUnsafeBufferPointer { samples in
            guard let start = samples.baseAddress else { return }
            for resampler in resamplers { resampler.take(start, plane: plane, y: y) }
        }
    }
}

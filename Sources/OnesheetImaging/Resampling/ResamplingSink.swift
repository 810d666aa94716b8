import OnesheetCore

/// Takes a picture's rows as they are decoded and hands them to a resampler for each variant: the picture itself is never held.
struct ResamplingSink: RowSink, ~Copyable {
    private let make: (PixelLayout) throws(CodecError) -> [PictureResampler]
    private(set) var resamplers: [PictureResampler] = []

    /// - Parameter make: makes the resamplers once the decoder has said what it delivers.
    init(_ make: @escaping (PixelLayout) throws(CodecError) -> [PictureResampler]) { self.make = make }

    mutating func begin(_ layout: PixelLayout) throws(CodecError) { resamplers = try make(layout) }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        samples.withUnsafeBufferPointer { samples in
            guard let start = samples.baseAddress else { return }
            for resampler in resamplers { resampler.take(start, plane: plane, y: y) }
        }
    }
}

import NIOCore
import OnesheetCore

/// One call of `Renderer.render`. Decodes the original in as few passes as the decoder needs. Each variant is made from the rows that
/// it would get alone, so that its bytes do not depend on the others.
struct Rendering {
    let jobs: [Job]
    let header: ImageHeader
    let renderer: Renderer
    let deadline: Deadline
    /// How many times more samples than usual the decoder delivers on each side.
    let detail: Double

    init(_ jobs: [Job], of header: ImageHeader, with renderer: Renderer, by deadline: Deadline, detail: Double = 1) {
        self.jobs = jobs
        self.header = header
        self.renderer = renderer
        self.deadline = deadline
        self.detail = detail
    }

    func run(_ bytes: Span<UInt8>, _ codec: any ImageDecoder) throws(RenderError) -> [RenderedImage] {
        let resamplers: [PictureResampler]
        do throws(CodecError) {
            resamplers = try resample(bytes, codec)
        } catch {
            throw renderer.failure(error, in: codec.format)
        }
        var images: [RenderedImage] = []
        for (index, job) in jobs.enumerated() {
            do throws(CodecError) {
                try images.append(finish(job, resamplers[index].movePicture()))
            } catch {
                // The picture is read. Only what this variant asks for takes too long.
                throw error == .timedOut ? .tooSlow(after: renderer.deadline) : .codec(error, job.encoder.format)
            }
        }
        return images
    }

    /// The first job's picture in RGB, not encoded.
    func picture(_ bytes: Span<UInt8>, _ codec: any ImageDecoder) throws(CodecError) -> PixelBuffer {
        let resampled = try resample(bytes, codec)[0].movePicture()
        return try finished(jobs[0], resampled).inRGB(limits: renderer.limits, by: deadline)
    }

    /// Decodes, and resamples the picture of every job.
    private func resample(_ bytes: Span<UInt8>, _ codec: any ImageDecoder) throws(CodecError) -> [PictureResampler] {
        var sinks = jobs.map { job in
            ResamplingSink(by: deadline) { [self] layout throws(CodecError) in try resampler(job, from: layout) }
        }
        let requests = jobs.map { request($0, namesSizes: codec.scales) }
        try codec.decode(bytes, requests, into: &sinks)
        var resamplers: [PictureResampler] = []
        for sink in sinks {
            guard let resampler = sink.resampler else { throw .damaged(reason: "rows are missing") }
            try resampler.finish()
            resamplers.append(resampler)
        }
        return resamplers
    }

    /// The scale on which the picture's light adds up; `nil` averages stored values.
    private var light: SampleScale? { renderer.resamplesInLinearLight ? .light(header.model, header.colors) : nil }

    private func resampler(_ job: Job, from layout: PixelLayout) throws(CodecError) -> PictureResampler {
        var limits = renderer.limits
        limits.pixels = limits.outputPixels
        return try PictureResampler(
            job.plan, from: layout, at: PictureGeometry(layout, of: header), chroma: job.chroma,
            light: light, tables: renderer.tables,
            limits: limits, by: deadline)
    }

    /// - Parameter namesSizes: whether the decoder scales. Requests to others are equal, so that one pass serves all jobs.
    private func request(_ job: Job, namesSizes: Bool) -> DecodeRequest {
        var request = DecodeRequest(
            acceptsPlanar: true, averagesLight: light != nil, acceptsTruncated: renderer.acceptsTruncated,
            limits: renderer.limits, deadline: deadline)
        guard namesSizes else { return request }
        // A decoder's own scaling averages stored values.
        if !request.averagesLight { (request.minimumWidth, request.minimumHeight) = job.wants(header) }
        request.target = job.target(header, detail: detail)
        return request
    }
}

/// Receives rows during decoding and passes them to the resampler of a variant, so that the picture itself is never stored.
struct ResamplingSink: RowSink {
    private let make: (PixelLayout) throws(CodecError) -> PictureResampler
    private(set) var resampler: PictureResampler?

    private var watch: DeadlineWatch

    /// - Parameter make: makes the resampler once the decoder has announced its layout.
    init(by deadline: Deadline, _ make: @escaping (PixelLayout) throws(CodecError) -> PictureResampler) {
        self.make = make
        watch = DeadlineWatch(deadline)
    }

    mutating func begin(_ layout: PixelLayout) throws(CodecError) {
        resampler = try make(layout)
        try watch.deadline.check()
    }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        try add(samples, variances: nil, plane: plane, y: y)
    }

    mutating func row(_ samples: Span<UInt8>, variances: Span<UInt16>, y: Int) throws(CodecError) {
        try variances.withUnsafeBufferPointer { variances throws(CodecError) in
            try add(samples, variances: variances.baseAddress, plane: 0, y: y)
        }
    }

    private mutating func add(
        _ samples: Span<UInt8>, variances: UnsafePointer<UInt16>?, plane: Int, y: Int
    ) throws(CodecError) {
        // In a variable of its own, the resampler would be counted once more for each row.
        try watch.row(samples: samples.count + (resampler?.samplesPerRow ?? 0))
        samples.withUnsafeBufferPointer { samples in
            if let start = samples.baseAddress { resampler?.add(start, variances: variances, plane: plane, y: y) }
        }
    }
}

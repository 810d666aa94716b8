import NIOCore
import OnesheetCore

/// One call of `Renderer.render`. Decodes the original once and makes the variants from its rows, smaller ones from larger ones.
struct Rendering {
    let jobs: [Job]
    let header: ImageHeader
    let renderer: Renderer
    let deadline: Deadline
    /// How many times more samples than usual the decoder delivers on each side.
    let detail: Double
    /// The index of each job's larger parent; `nil` if it is made from the original.
    private let parents: [Int?]

    init(_ jobs: [Job], of header: ImageHeader, with renderer: Renderer, by deadline: Deadline, detail: Double = 1) {
        self.jobs = jobs
        self.header = header
        self.renderer = renderer
        self.deadline = deadline
        self.detail = detail
        parents = ScalePyramid.parents(jobs)
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
                try images.append(finish(job, resamplers[index].takePicture()))
            } catch {
                throw renderer.failure(error, in: job.encoder.format)
            }
        }
        return images
    }

    /// The first job's picture in RGB, not encoded.
    func picture(_ bytes: Span<UInt8>, _ codec: any ImageDecoder) throws(CodecError) -> PixelBuffer {
        let resampled = try resample(bytes, codec)[0].takePicture()
        return try finished(jobs[0], resampled).inRGB(limits: renderer.limits, by: deadline)
    }

    /// Decodes, and resamples the picture of every job.
    private func resample(_ bytes: Span<UInt8>, _ codec: any ImageDecoder) throws(CodecError) -> [PictureResampler] {
        let direct = jobs.indices.filter { parents[$0] == nil }
        var sink = ResamplingSink(by: deadline) { [self] layout throws(CodecError) in
            try make(direct, from: layout, at: PictureGeometry(layout, of: header))
        }
        try codec.decode(bytes, request(direct), into: &sink)
        var resamplers = [PictureResampler?](repeating: nil, count: jobs.count)
        for (resampler, index) in zip(sink.resamplers, direct) {
            try resampler.finish()
            resamplers[index] = resampler
        }
        // Parents come before their children, which are smaller.
        for parent in jobs.indices.sorted(by: { jobs[$0].plan.size.width > jobs[$1].plan.size.width }) {
            guard let source = resamplers[parent] else { continue }
            let children = jobs.indices.filter { parents[$0] == parent }
            guard !children.isEmpty else { continue }
            let made = try make(children, from: source.picture.layout, at: source.geometry)
            try source.give(to: made, by: deadline)
            for (resampler, index) in zip(made, children) {
                try resampler.finish()
                resamplers[index] = resampler
            }
        }
        let made = resamplers.compactMap { $0 }
        guard made.count == jobs.count else { throw .damaged(reason: "rows are missing") }
        return made
    }

    private func make(_ indices: [Int], from layout: PixelLayout, at geometry: PictureGeometry) throws(CodecError)
        -> [PictureResampler]
    {
        var limits = renderer.limits
        limits.pixels = limits.outputPixels
        var made: [PictureResampler] = []
        for index in indices {
            try made.append(
                PictureResampler(
                    jobs[index].plan, from: layout, at: geometry, chroma: jobs[index].chroma,
                    light: renderer.resamplesInLinearLight, tables: renderer.tables, limits: limits, by: deadline))
        }
        return made
    }

    private func request(_ direct: [Int]) -> DecodeRequest {
        let wants = direct.map { jobs[$0].wants(header) }
        let targets = direct.map { jobs[$0].target(header) }
        return DecodeRequest(
            minimumWidth: wants.reduce(1) { max($0, $1.width) }, minimumHeight: wants.reduce(1) { max($0, $1.height) },
            target: DecodeRequest.Target(
                width: detail * targets.reduce(0) { max($0, $1.width) },
                height: detail * targets.reduce(0) { max($0, $1.height) },
                chroma: targets.map(\.chroma).min() ?? 1),
            acceptsPlanar: !renderer.resamplesInLinearLight, acceptsTruncated: renderer.acceptsTruncated, limits: renderer.limits,
            deadline: deadline)
    }
}

/// Decides which variant is made from which: the sizes of a ladder are made from one another instead of all from the original.
enum ScalePyramid {
    /// The least factor on each side between a variant and its parent. With less, averaging twice would be visible.
    static let least = 1.4

    /// The index of each job's parent, the smallest that is large enough; `nil` is the original.
    static func parents(_ jobs: [Job]) -> [Int?] {
        jobs.indices.map { child in
            jobs.indices
                .filter { $0 != child && canMake(jobs[child], from: jobs[$0], isEarlier: $0 < child) }
                .min { jobs[$0].plan.size.width < jobs[$1].plan.size.width }
        }
    }

    private static func canMake(_ child: Job, from parent: Job, isEarlier: Bool) -> Bool {
        let (small, large) = (child.plan, parent.plan)
        // The parent contains all that the child may read, and its chroma is at least as fine.
        guard large.region == large.bounds, small.bounds == large.bounds else { return false }
        if small.size == large.size, small.region == large.region {
            return isEarlier && child.chroma == parent.chroma && small.turn == large.turn
        }
        let wide = Double(large.size.width) / large.region.width * small.region.width
        let high = Double(large.size.height) / large.region.height * small.region.height
        return wide >= least * Double(small.size.width) && high >= least * Double(small.size.height)
            && (child.chroma >= parent.chroma || wide >= 2 * Double(small.size.width))
    }
}

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

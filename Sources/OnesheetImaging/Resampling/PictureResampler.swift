import OnesheetCore

/// Resamples a picture plane by plane as its rows arrive. The output has the channels of the original and is not yet turned.
final class PictureResampler {
    let plan: Plan
    private(set) var picture: PixelBuffer
    private let planes: [PlaneResampler]
    /// Output samples per input row, on average.
    let samplesPerRow: Int

    /// - Parameters:
    ///   - layout: the layout of the input; `source` is its scale.
    ///   - chroma: luma pixels per chroma pixel of the output in each direction, if the picture is planar.
    ///   - light: the scale on which light adds up; `nil` averages stored values. Of a planar picture, only luma is light.
    init(
        _ plan: Plan, from layout: PixelLayout, at source: PictureGeometry, chroma: Int, light: SampleScale?,
        tables: FilterTableCache, limits: Limits, by deadline: Deadline
    ) throws(CodecError) {
        self.plan = plan
        let (width, height) = (plan.size.width, plan.size.height)
        let target =
            layout.isPlanar
            ? PixelLayout(width: width, height: height, planarWithSubsampling: chroma, chroma)
            : PixelLayout(width: width, height: height, model: layout.model, hasAlpha: layout.hasAlpha)
        // In the turned picture, chroma starts at the left and upper edge. If that is this picture's right or lower edge and a side
        // is odd, chroma starts before the picture.
        let mirrorsX = plan.turn.transposes ? plan.turn.mirrorsY : plan.turn.mirrorsX
        let mirrorsY = plan.turn.transposes ? plan.turn.mirrorsX : plan.turn.mirrorsY
        let last = target.planes[target.planes.count - 1]
        let leadX = layout.isPlanar && mirrorsX ? last.width * chroma - width : 0
        let leadY = layout.isPlanar && mirrorsY ? last.height * chroma - height : 0
        var picture = try PixelBuffer(target, limits: limits)
        var planes: [PlaneResampler] = []
        samplesPerRow = target.bytes / layout.height

        for (index, plane) in target.planes.enumerated() {
            let isChroma = index > 0
            let across = ResamplingWindow(
                region: (plan.region.x, plan.region.width), bounds: (plan.bounds.x, plan.bounds.width), scale: source.scaleX,
                sourceSubsampling: isChroma ? layout.subsampling.x : 1, samples: layout.planes[index].width, outputs: plane.width,
                pixels: width, subsampling: isChroma ? chroma : 1, lead: isChroma ? leadX : 0)
            let down = ResamplingWindow(
                region: (plan.region.y, plan.region.height), bounds: (plan.bounds.y, plan.bounds.height), scale: source.scaleY,
                sourceSubsampling: isChroma ? layout.subsampling.y : 1, samples: layout.planes[index].height,
                outputs: plane.height, pixels: height, subsampling: isChroma ? chroma : 1, lead: isChroma ? leadY : 0)
            let shape = layout.planes[index]
            // Enlarging adds up nothing, and light would make its edges darker.
            let shrinks = across.scale > 1 || down.scale > 1
            let scale = isChroma || !shrinks ? nil : light
            try planes.append(
                PlaneResampler(
                    across: across, down: down, tables: tables, channels: plane.channels, hasAlpha: layout.hasAlpha,
                    scale: scale ?? (layout.hasAlpha ? .stored : nil),
                    target: picture.withMutablePlane(index) { $0 }, stride: picture.stride(of: index), width: shape.width,
                    height: shape.height, mayHalve: isChroma, by: deadline))
        }
        self.picture = picture
        self.planes = planes
    }

    /// The bytes of the output and of the tables and rows.
    var bytes: Int { planes.reduce(picture.allocatedBytes) { $0 + $1.bytes } }

    /// Adds row `y` of a plane.
    /// - Parameter variances: of what the decoder has left out around each sample.
    func add(_ samples: UnsafePointer<UInt8>, variances: UnsafePointer<UInt16>? = nil, plane: Int, y: Int) {
        planes[plane].add(samples, variances: variances, y: y)
    }

    /// - Throws: if rows are missing: a decoder stopped without an error.
    func finish() throws(CodecError) {
        guard planes.allSatisfy(\.isComplete) else { throw .damaged(reason: "rows are missing") }
    }

    /// Moves the output out; one pixel remains.
    func movePicture() throws(CodecError) -> PixelBuffer {
        var moved = try PixelBuffer(PixelLayout(width: 1, height: 1, model: .gray), limits: Limits())
        swap(&moved, &picture)
        return moved
    }
}

extension ResamplingWindow {
    /// One direction of one plane. Parts of the stored original (`region`, `bounds`: first pixel and length) become samples of the
    /// input plane, and pixels of the output become samples of the output plane.
    fileprivate init(
        region: (Double, Double), bounds: (Double, Double), scale: Double, sourceSubsampling: Int, samples: Int, outputs: Int,
        pixels: Int, subsampling: Int, lead: Int
    ) {
        func sample(_ stored: Double) -> Double { stored * scale / Double(sourceSubsampling) }
        let pixel = region.1 * scale / Double(pixels) / Double(sourceSubsampling)
        // Parts that are whole samples except for rounding are whole samples.
        let first = min(max(Int((sample(bounds.0) + 1e-6).rounded(.down)), 0), samples - 1)
        let end = min(max(Int((sample(bounds.0 + bounds.1) - 1e-6).rounded(.up)), first + 1), samples)
        self.init(
            start: sample(region.0) - Double(lead) * pixel, length: Double(outputs * subsampling) * pixel, outputs: outputs,
            bounds: first..<end)
    }
}

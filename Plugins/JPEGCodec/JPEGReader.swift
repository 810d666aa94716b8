import CJPEG
import OnesheetCore

/// Reads one file. It owns the library's state and must not outlive the bytes of its init.
struct JPEGReader: ~Copyable {
    private let handle: OpaquePointer

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) {
        guard let start = bytes.baseAddress else { throw .truncated }
        guard let handle = cjpeg_reader_new(start, bytes.count) else { throw .outOfMemory }
        self.handle = handle
    }

    deinit { cjpeg_reader_free(handle) }

    borrowing func header() throws(CodecError) -> ImageHeader {
        let raw = try readHeader()
        let exif = raw.exif.map { Array(UnsafeBufferPointer(start: $0, count: raw.exif_length)) }
        let tags = exif.map(EXIF.init(tiff:)) ?? EXIF()
        let profile = raw.icc.map { Array(UnsafeBufferPointer(start: $0, count: raw.icc_length)) }
        return ImageHeader(
            format: .jpeg, width: Int(raw.width), height: Int(raw.height), model: model(of: raw.colors),
            orientation: tags.orientation, colors: profile.map(ColorDescription.icc) ?? .sRGB, isProgressive: raw.progressive,
            copyright: tags.copyright, exif: exif, scans: Int(raw.scans))
    }

    borrowing func decode<Sink: RowSink & ~Copyable>(
        _ request: DecodeRequest, _ watch: cjpeg_watch, into sink: inout Sink
    ) throws(CodecError) {
        let header = try readHeader(within: request.limits)
        let layout: PixelLayout
        if let corners = Self.corners(of: header, for: request),
            let small = try start([corners], of: header, for: request, watch: watch)
        {
            layout = small[0]
        } else {
            layout = try start(header, for: request, watch: watch)
        }
        try sink.begin(layout)
        var rows = [cjpeg_rows()]
        while try next(&rows, of: header, request) { try deliver(&rows[0], layout, into: &sink) }
    }

    /// Reads the header.
    /// - Throws: also if the picture has more pixels than allowed.
    borrowing func readHeader(within limits: Limits) throws(CodecError) -> cjpeg_header {
        let header = try readHeader()
        let (width, height) = (Int(header.width), Int(header.height))
        guard width * height <= limits.pixels else { throw .tooManyPixels(width: width, height: height, limit: limits.pixels) }
        return header
    }

    /// Prepares the reader for shrinking for one picture for each element of `corners`.
    /// - Returns: the pictures' layouts; `nil` if the library has to read the file.
    borrowing func start(
        _ corners: [cjpeg_corners], of header: cjpeg_header, for request: DecodeRequest, watch: cjpeg_watch
    ) throws(CodecError) -> [PixelLayout]? {
        var layouts = [cjpeg_layout](repeating: cjpeg_layout(), count: corners.count)
        var hasStarted = false
        try check(
            cjpeg_start_corners(
                handle, Self.raw(request, of: header, watch: watch), corners, Int32(corners.count), &layouts, &hasStarted),
            Self.scans(header, request.limits))
        return hasStarted ? layouts.map { layout($0, of: header) } : nil
    }

    /// Prepares the library.
    private borrowing func start(
        _ header: cjpeg_header, for request: DecodeRequest, watch: cjpeg_watch
    ) throws(CodecError) -> PixelLayout {
        var delivered = cjpeg_layout()
        try check(cjpeg_start(handle, Self.raw(request, of: header, watch: watch), &delivered), Self.scans(header, request.limits))
        return layout(delivered, of: header)
    }

    /// Reads the next rows of each picture; `false` after the last.
    borrowing func next(
        _ rows: inout [cjpeg_rows], of header: cjpeg_header, _ request: DecodeRequest
    ) throws(CodecError) -> Bool {
        try check(cjpeg_read(handle, &rows), Self.scans(header, request.limits))
        try request.deadline.check()
        return rows[0].count.0 > 0
    }

    private static func raw(_ request: DecodeRequest, of header: cjpeg_header, watch: cjpeg_watch) -> cjpeg_request {
        cjpeg_request(
            eighths: Int32(eighths(width: Int(header.width), height: Int(header.height), for: request)), portable: false,
            planar: request.acceptsPlanar, truncated: request.acceptsTruncated,
            scans: Int32(clamping: scans(header, request.limits)),
            memory: memory(request.limits), watch: watch)
    }

    /// The smallest scale with the requested number of pixels on each side.
    static func eighths(width: Int, height: Int, for request: DecodeRequest) -> Int {
        for eighths in [1, 2, 4]
        where (width * eighths + 7) / 8 >= request.minimumWidth && (height * eighths + 7) / 8 >= request.minimumHeight {
            return eighths
        }
        return 8
    }

    /// The most scans of a picture of the largest size. Smaller ones may have more, so that all passes together take no longer.
    /// Common programs write ten to twenty.
    private static let scansOfLargest = 20

    /// Each scan costs a pass over all coefficients, and needs only a few bytes in the file.
    static func scans(pixels: Int, _ limits: Limits) -> Int {
        let (work, overflow) = limits.pixels.multipliedReportingOverflow(by: scansOfLargest)
        return min(limits.scans, overflow ? .max : work / max(pixels, 1))
    }

    private static func scans(_ header: cjpeg_header, _ limits: Limits) -> Int {
        scans(pixels: Int(header.width) * Int(header.height), limits)
    }

    /// The coefficients of a progressive file take two bytes each, for at most four components; the rest is rows.
    private static func memory(_ limits: Limits) -> Int { min(limits.pixels, 1 << 40) * 8 + (64 << 20) }

    private func layout(_ delivered: cjpeg_layout, of header: cjpeg_header) -> PixelLayout {
        let (width, height, eighths) = (Int(delivered.width), Int(delivered.height), Int(delivered.eighths))
        let exactWidth = min(Double(width), Double(header.width) * Double(eighths) / 8)
        let exactHeight = min(Double(height), Double(header.height) * Double(eighths) / 8)
        if delivered.planes == 3 {
            return PixelLayout(
                width: width, height: height, planarWithSubsampling: Int(delivered.subsampling_x), Int(delivered.subsampling_y),
                exactWidth: exactWidth, exactHeight: exactHeight)
        }
        let model: ColorModel =
            switch delivered.channels {
            case 1: .gray
            case 4: .cmyk
            default: .rgb
            }
        return PixelLayout(width: width, height: height, model: model, exactWidth: exactWidth, exactHeight: exactHeight)
    }

    private func model(of colors: cjpeg_colors) -> ColorModel {
        switch colors {
        case CJPEG_GRAY: .gray
        case CJPEG_RGB: .rgb
        case CJPEG_YCBCR: .ycbcr
        default: .cmyk
        }
    }

    private func readHeader() throws(CodecError) -> cjpeg_header {
        var header = cjpeg_header()
        try check(cjpeg_read_header(handle, &header))
        return header
    }

    /// - Parameter scans: the limit.
    private func check(_ status: cjpeg_status, _ scans: Int = 0) throws(CodecError) {
        if status == CJPEG_OK { return }
        let message = String(cString: cjpeg_reader_message(handle))
        throw CodecError(status, message, scans: scans)
    }

    /// The least samples per pixel of the result, for luma corners of 1 to 8 coefficients. Measured: with them the encoded result
    /// is on average within 0.15 dB of one that libjpeg-turbo scales to at least twice the result, and never 0.3 dB below. Three
    /// coefficients lose up to 0.5 dB at 1.5 samples per pixel, and four cost little more. Larger corners hold more of what a pixel
    /// can show, and eight hold everything.
    private static let luma = [2, 1.95, 1.6, 1.45, 1.45, 1.4, 1.3, 0]
    /// The same for averages in linear light. With fewer, it matters where in its block the light lies that a corner leaves out.
    private static let lightLuma = [1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9, 0]
    /// The same for chroma. More than the file has is no use.
    private static func chroma(_ corner: Int) -> Double { corner < 8 ? 1.4 : 0 }

    /// The corners of coefficients, in eighths of each side, that suffice for the target: the smallest of luma, and the smallest of
    /// chroma whose samples lie on whole luma samples. `nil` if the library has to decode.
    static func corners(of header: cjpeg_header, for request: DecodeRequest) -> cjpeg_corners? {
        guard header.fits_corner, let target = request.target else { return nil }
        func suffices(_ corner: Int, atLeast least: Double, subsampling: (x: Int, y: Int), chroma: Int) -> Bool {
            let (across, down) = (Double(8 * subsampling.x), Double(8 * subsampling.y))
            return Double(header.width) * Double(corner) / across * Double(chroma) >= least * target.width
                && Double(header.height) * Double(corner) / down * Double(chroma) >= least * target.height
        }
        let subsampling = (x: Int(header.subsampling_x), y: Int(header.subsampling_y))
        let luma = request.averagesLight ? lightLuma : luma
        for corner in 1...8 where suffices(corner, atLeast: luma[corner - 1], subsampling: (1, 1), chroma: 1) {
            guard header.colors == CJPEG_YCBCR else {
                return cjpeg_corners(luma: Int32(corner), chroma: Int32(corner))
            }
            for small in 1...max(4, corner)
            where suffices(small, atLeast: chroma(small), subsampling: subsampling, chroma: target.chroma) {
                guard subsampling.x * corner % small == 0, subsampling.y * corner % small == 0 else { continue }
                return cjpeg_corners(luma: Int32(corner), chroma: Int32(small))
            }
        }
        return nil
    }

    /// Passes the rows of one step to the sink. Files store 255 minus ink: Adobe's programs do, and browsers, libvips and Pillow expect it
    /// of all others too.
    func deliver<Sink: RowSink & ~Copyable>(
        _ rows: inout cjpeg_rows, _ layout: PixelLayout, into sink: inout Sink
    ) throws(CodecError) {
        let counts = [rows.count.0, rows.count.1, rows.count.2]
        let firsts = [rows.first.0, rows.first.1, rows.first.2]
        for (plane, shape) in layout.planes.enumerated() {
            for index in 0..<Int(counts[plane]) {
                guard let start = Self.row(index, of: plane, in: &rows) else { throw .damaged(reason: "a row is missing") }
                let samples = UnsafeMutableBufferPointer(start: start, count: shape.width * shape.channels)
                if layout.model == .cmyk {
                    for sample in samples.indices { samples[sample] = 255 - samples[sample] }
                }
                let (row, y) = (Span(_unsafeElements: UnsafeBufferPointer(samples)), Int(firsts[plane]) + index)
                if plane == 0, let start = Self.variances(index, in: &rows) {
                    let variances = UnsafeBufferPointer(start: start, count: shape.width)
                    try sink.row(row, variances: Span(_unsafeElements: variances), y: y)
                } else {
                    try sink.row(row, plane: plane, y: y)
                }
            }
        }
    }

    private static func variances(_ index: Int, in rows: inout cjpeg_rows) -> UnsafePointer<UInt16>? {
        withUnsafeBytes(of: &rows.variances) { $0.assumingMemoryBound(to: UnsafePointer<UInt16>?.self)[index] }
    }

    /// Swift imports a C array of arrays as a tuple, but its memory is an array.
    private static func row(_ index: Int, of plane: Int, in rows: inout cjpeg_rows) -> UnsafeMutablePointer<UInt8>? {
        withUnsafeBytes(of: &rows.rows) { bytes in
            bytes.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)[plane * Int(CJPEG_ROWS) + index]
        }
    }
}

extension Deadline {
    /// Calls `body` with this deadline in the form for C, which is valid during the call.
    func withWatch<Result>(_ body: (cjpeg_watch) throws(CodecError) -> Result) throws(CodecError) -> Result {
        try withUnsafePointer(to: self) { deadline throws(CodecError) in
            // C passes the pointer back and writes nothing.
            let context = UnsafeMutableRawPointer(mutating: deadline)
            return try body(
                cjpeg_watch(
                    may_go_on: { context in context.map { !$0.assumingMemoryBound(to: Deadline.self).pointee.hasPassed } ?? true },
                    context: context))
        }
    }
}

extension CodecError {
    init(_ status: cjpeg_status, _ message: String, scans: Int) {
        self =
            switch status {
            case CJPEG_TRUNCATED: .truncated
            case CJPEG_UNSUPPORTED: .unsupported(message)
            case CJPEG_TOO_MANY_SCANS: .tooManyScans(limit: scans)
            case CJPEG_OUT_OF_MEMORY: .outOfMemory
            case CJPEG_TIMED_OUT: .timedOut
            default: .damaged(reason: message)
            }
    }
}

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
        let header = try readHeader()
        let (width, height) = (Int(header.width), Int(header.height))
        guard width * height <= request.limits.pixels else {
            throw .tooManyPixels(width: width, height: height, limit: request.limits.pixels)
        }
        let eighths = Self.eighths(width: width, height: height, for: request)
        let corners = Self.corners(of: header, for: request)
        let scans = Self.scans(pixels: width * height, request.limits)
        var delivered = cjpeg_layout()
        try check(
            cjpeg_start(
                handle,
                cjpeg_request(
                    eighths: Int32(eighths), corner: Int32(corners?.luma ?? 0), chroma_corner: Int32(corners?.chroma ?? 0),
                    portable: false, planar: request.acceptsPlanar, truncated: request.acceptsTruncated,
                    scans: Int32(clamping: scans), memory: Self.memory(request.limits), watch: watch), &delivered), scans)
        let layout = layout(delivered, of: header)
        try sink.begin(layout)
        let turnsInks = header.adobe && layout.model == .cmyk
        var rows = cjpeg_rows()
        while true {
            try check(cjpeg_read(handle, &rows), scans)
            try request.deadline.check()
            guard rows.count.0 > 0 else { return }
            try deliver(&rows, layout, invertingInks: turnsInks, into: &sink)
        }
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
}

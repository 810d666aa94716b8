import CJPEG
public import NIOCore
public import OnesheetCore

extension JPEGCodec {
    /// Below this quality chroma is stored at half the resolution, as is usual. The loss is invisible there.
    static let fullColorQuality = 90

    /// Planar pictures keep their subsampling.
    public func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        let layout = picture.layout
        guard !layout.hasAlpha else { throw .unsupported("transparency in JPEG") }
        guard layout.width <= 65_500, layout.height <= 65_500 else {
            throw .unsupported("more than 65,500 pixels to a side in JPEG")
        }
        var raw = cjpeg_picture()
        raw.width = Int32(layout.width)
        raw.height = Int32(layout.height)
        switch layout.model {
        case .gray: raw.colors = CJPEG_GRAY
        case .rgb: raw.colors = CJPEG_RGB
        case .cmyk: raw.colors = CJPEG_CMYK
        case .ycbcr:
            guard layout.isPlanar else { throw .unsupported("packed YCbCr") }
            raw.colors = CJPEG_YCBCR
        }
        let subsampling = layout.model == .rgb ? (options.quality < Self.fullColorQuality ? (2, 2) : (1, 1)) : layout.subsampling
        raw.subsampling_x = Int32(subsampling.0)
        raw.subsampling_y = Int32(subsampling.1)
        raw.quality = Int32(min(max(options.quality, 1), 100))
        raw.progressive = configuration.progressive
        raw.optimized = configuration.optimize || (options.effort ?? 0) >= 5
        return try write(picture, as: &raw, options)
    }

    private func write(
        _ picture: borrowing PixelBuffer, as raw: inout cjpeg_picture, _ options: EncodeOptions
    ) throws(CodecError) -> ByteBuffer {
        let planes = picture.layout.planes.count
        // The picture is borrowed, so it outlives the call.
        raw.planes.0 = picture.withPlane(0) { $0 }
        raw.strides.0 = picture.stride(of: 0)
        if planes > 2 {
            raw.planes.1 = picture.withPlane(1) { $0 }
            raw.planes.2 = picture.withPlane(2) { $0 }
            raw.strides.1 = picture.stride(of: 1)
            raw.strides.2 = picture.stride(of: 2)
        }
        return try (options.profile ?? []).withUnsafeBufferPointer { profile throws(CodecError) in
            try (options.exif ?? []).withUnsafeBufferPointer { exif throws(CodecError) in
                raw.icc = profile.baseAddress
                raw.icc_length = profile.count
                raw.exif = exif.isEmpty ? nil : exif.baseAddress
                raw.exif_length = exif.count
                return try options.deadline.withWatch { watch throws(CodecError) in
                    raw.watch = watch
                    return try run(raw)
                }
            }
        }
    }

    private func run(_ raw: cjpeg_picture) throws(CodecError) -> ByteBuffer {
        var raw = raw
        var bytes: UnsafeMutablePointer<UInt8>?
        var length = 0
        var message = [CChar](repeating: 0, count: Int(CJPEG_MESSAGE))
        let status = cjpeg_write(&raw, &bytes, &length, &message)
        guard status == CJPEG_OK, let bytes else {
            let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw CodecError(status, text, scans: 0)
        }
        defer { cjpeg_free(bytes) }
        return ByteBuffer(bytes: UnsafeBufferPointer(start: bytes, count: length))
    }
}

#if WebP
    internal import CWebP
    public import OnesheetCore

    extension WebPCodec {
        /// The whole picture is in memory during decoding, as libwebp requires, at 1/2, 1/4 or 1/8 if that is large enough.
        ///
        /// If `request` accepts truncated pictures, missing rows are black, or transparent if the picture has alpha.
        public func decode<Sink: RowSink & ~Copyable>(
            _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
        ) throws(CodecError) {
            let picture = try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                let file = try WebPFile(bytes, acceptsTruncated: request.acceptsTruncated)
                guard file.width * file.height <= request.limits.pixels else {
                    throw .tooManyPixels(width: file.width, height: file.height, limit: request.limits.pixels)
                }
                let scale = file.coversCanvas ? Self.scale(file, request) : 1
                let layout = PixelLayout(
                    width: (file.width + scale - 1) / scale, height: (file.height + scale - 1) / scale, model: .rgb,
                    hasAlpha: file.hasAlpha)
                try request.deadline.check()
                var picture = try PixelBuffer(layout, limits: request.limits)
                try Self.decode(file, into: &picture, isScaled: scale > 1, acceptsTruncated: request.acceptsTruncated)
                return picture
            }
            try sink.begin(picture.layout)
            var watch = DeadlineWatch(request.deadline)
            for y in 0..<picture.layout.height {
                try watch.row(samples: picture.layout.width * picture.layout.planes[0].channels)
                try picture.withRow(y) { row throws(CodecError) in try sink.row(row, plane: 0, y: y) }
            }
        }

        /// Decodes once for each scale, because libwebp delivers one scale in a pass.
        public func decode<Sink: RowSink>(
            _ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]
        ) throws(CodecError) {
            let pictures = try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
                try requests.map { (request) throws(CodecError) in
                    let file = try WebPFile(bytes, acceptsTruncated: request.acceptsTruncated)
                    return request.atScale(file.coversCanvas ? Self.scale(file, request) : 1)
                }
            }
            try decode(bytes, requests, pictures: pictures, into: &sinks)
        }

        /// The picture, and libwebp's own copy of lossless files (four bytes a pixel) or its rows of lossy ones.
        public func memoryToDecode(_ header: ImageHeader) -> Int {
            let layout = PixelLayout(width: header.width, height: header.height, model: .rgb, hasAlpha: header.hasAlpha)
            return PixelBuffer.bytes(for: layout) + header.width * header.height * 5 + header.width * 256 + 1 << 20
        }

        /// The largest power of two by which both sides may shrink.
        private static func scale(_ file: borrowing WebPFile, _ request: DecodeRequest) -> Int {
            var scale = 8
            while scale > 1,
                file.width / scale < max(1, request.minimumWidth) || file.height / scale < max(1, request.minimumHeight)
            {
                scale /= 2
            }
            return scale
        }

        private static func decode(
            _ file: borrowing WebPFile, into picture: inout PixelBuffer, isScaled: Bool, acceptsTruncated: Bool
        ) throws(CodecError) {
            let stride = picture.stride(of: 0)
            let layout = picture.layout
            let channels = layout.planes[0].channels
            let frame = file.frame
            let height = isScaled ? layout.height : frame.height
            let stream = file.stream
            try picture.withMutablePlane(0) { (start) throws(CodecError) in
                var config = WebPDecoderConfig()
                guard WebPInitDecoderConfig(&config) != 0 else { throw .unsupported("this version of libwebp") }
                if isScaled {
                    config.options.use_scaling = 1
                    config.options.scaled_width = Int32(layout.width)
                    config.options.scaled_height = Int32(layout.height)
                }
                config.output.colorspace = layout.hasAlpha ? MODE_RGBA : MODE_RGB
                config.output.is_external_memory = 1
                config.output.u.RGBA.rgba = start + frame.y * stride + frame.x * channels
                config.output.u.RGBA.stride = Int32(stride)
                config.output.u.RGBA.size = stride * (height - 1) + (isScaled ? layout.width : frame.width) * channels
                let status = acceptsTruncated ? read(stream, as: &config) : WebPDecode(stream.baseAddress, stream.count, &config)
                WebPFreeDecBuffer(&config.output)
                try check(status)
            }
        }

        /// Reads all available rows; it is an error if there are none.
        private static func read(_ stream: UnsafeBufferPointer<UInt8>, as config: inout WebPDecoderConfig) -> VP8StatusCode {
            guard let decoder = WebPINewDecoder(&config.output) else { return VP8_STATUS_OUT_OF_MEMORY }
            defer { WebPIDelete(decoder) }
            let status = WebPIUpdate(decoder, stream.baseAddress, stream.count)
            var rows: Int32 = 0
            let area = WebPIDecodedArea(decoder, nil, nil, nil, &rows)
            return area != nil && rows > 0 ? VP8_STATUS_OK : status == VP8_STATUS_OK ? VP8_STATUS_NOT_ENOUGH_DATA : status
        }

        private static func check(_ status: VP8StatusCode) throws(CodecError) {
            switch status {
            case VP8_STATUS_OK: return
            case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA: throw .truncated
            case VP8_STATUS_OUT_OF_MEMORY: throw .outOfMemory
            case VP8_STATUS_UNSUPPORTED_FEATURE: throw .unsupported("a WebP feature that libwebp does not support")
            default: throw .damaged(reason: "the bit stream is damaged")
            }
        }
    }

    extension DecodeRequest {
        /// The same for all requests that get the same rows: the scale stands for the sizes.
        fileprivate func atScale(_ scale: Int) -> DecodeRequest {
            var request = self
            (request.minimumWidth, request.minimumHeight, request.target) = (scale, scale, nil)
            return request
        }
    }
#endif

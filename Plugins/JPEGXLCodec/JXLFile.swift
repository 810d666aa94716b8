#if JXL
    internal import CJXL
    internal import OnesheetCore

    /// Reads one file with libjxl. The bytes stay in place during its lifetime.
    struct JXLFile: ~Copyable {
        private let decoder: OpaquePointer
        private var input: JXLInput
        private let info: JxlBasicInfo

        /// The most channels beyond the colours. libjxl decodes them all.
        private static let mostExtraChannels = 4

        /// Reads up to the size and the kinds of channels.
        /// - Parameter bytes: must stay in place during the lifetime of this object.
        init(_ bytes: UnsafeBufferPointer<UInt8>, by deadline: Deadline) throws(CodecError) {
            guard let decoder = JxlDecoderCreate(nil) else { throw .outOfMemory }
            var input = JXLInput(bytes, by: deadline)
            let info: JxlBasicInfo
            do throws(CodecError) {
                info = try Self.start(decoder, &input)
            } catch {
                JxlDecoderDestroy(decoder)
                throw error
            }
            self.decoder = decoder
            self.input = input
            self.info = info
        }

        deinit { JxlDecoderDestroy(decoder) }

        private static func start(_ decoder: OpaquePointer, _ input: inout JXLInput) throws(CodecError) -> JxlBasicInfo {
            let events = JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FULL_IMAGE.rawValue
            guard JxlDecoderSubscribeEvents(decoder, Int32(events)) == JXL_DEC_SUCCESS,
                JxlDecoderSetKeepOrientation(decoder, 1) == JXL_DEC_SUCCESS
            else { throw .unsupported("this version of libjxl") }
            try input.advance(decoder, to: JXL_DEC_BASIC_INFO)
            var info = JxlBasicInfo()
            guard JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS, info.xsize > 0, info.ysize > 0 else {
                throw .damaged(reason: "there is no size")
            }
            guard info.num_extra_channels <= mostExtraChannels else {
                throw .unsupported("JPEG XL of \(info.num_extra_channels) extra channels")
            }
            for index in 0..<Int(info.num_extra_channels) {
                var channel = JxlExtraChannelInfo()
                guard JxlDecoderGetExtraChannelInfo(decoder, index, &channel) == JXL_DEC_SUCCESS else {
                    throw .damaged(reason: "an extra channel is not described")
                }
                if channel.type == JXL_CHANNEL_BLACK { throw .unsupported("CMYK in JPEG XL") }
            }
            return info
        }

        var layout: PixelLayout {
            PixelLayout(
                width: Int(info.xsize), height: Int(info.ysize), model: info.num_color_channels == 1 ? .gray : .rgb,
                hasAlpha: info.alpha_bits > 0)
        }

        var orientation: Orientation { Orientation(rawValue: Int(info.orientation.rawValue)) ?? .up }

        /// Reads on to the colour space of the delivered samples. To be called once.
        /// - Throws: `CodecError.unsupported` for high dynamic range, which would be rendered too dark.
        mutating func colors() throws(CodecError) -> ColorDescription {
            try input.advance(decoder, to: JXL_DEC_COLOR_ENCODING)
            var encoding = JxlColorEncoding()
            if JxlDecoderGetColorAsEncodedProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding) == JXL_DEC_SUCCESS {
                switch encoding.transfer_function {
                case JXL_TRANSFER_FUNCTION_PQ: throw .unsupported("the transfer function PQ (high dynamic range)")
                case JXL_TRANSFER_FUNCTION_HLG: throw .unsupported("the transfer function HLG (high dynamic range)")
                default: break
                }
            } else if info.uses_original_profile == 0 {
                // The samples are not in the space of the profile, so libjxl may choose any; linear ones would lose shadows.
                JxlColorEncodingSetToSRGB(&encoding, info.num_color_channels == 1 ? 1 : 0)
                guard JxlDecoderSetPreferredColorProfile(decoder, &encoding) == JXL_DEC_SUCCESS else {
                    throw .unsupported("the colours of this JPEG XL")
                }
                return .sRGB
            }
            if JxlDecoderGetColorAsEncodedProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &encoding) == JXL_DEC_SUCCESS,
                Self.isSRGB(encoding)
            {
                return .sRGB
            }
            return profile.map(ColorDescription.icc) ?? .sRGB
        }

        private static func isSRGB(_ encoding: JxlColorEncoding) -> Bool {
            let isColored = encoding.color_space == JXL_COLOR_SPACE_RGB
            return encoding.transfer_function == JXL_TRANSFER_FUNCTION_SRGB && encoding.white_point == JXL_WHITE_POINT_D65
                && (!isColored || encoding.primaries == JXL_PRIMARIES_SRGB)
        }

        private var profile: [UInt8]? {
            var size = 0
            guard JxlDecoderGetICCProfileSize(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &size) == JXL_DEC_SUCCESS,
                (1...ImageHeader.largestProfile).contains(size)
            else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            let status = JxlDecoderGetColorAsICCProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &bytes, size)
            return status == JXL_DEC_SUCCESS ? bytes : nil
        }

        /// Decodes the first frame into 8 bits, after `colors()`; alpha is not premultiplied.
        mutating func decode(limits: Limits, isLenient: Bool) throws(CodecError) -> PixelBuffer {
            try input.advance(decoder, to: JXL_DEC_NEED_IMAGE_OUT_BUFFER)
            var picture = try PixelBuffer(layout, limits: limits)
            let channels = layout.planes[0].channels
            // Rows start at multiples of 64 bytes, like those of a `PixelBuffer`. The last one is not padded.
            var form = JxlPixelFormat(
                num_channels: UInt32(channels), data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 64)
            let size = picture.stride(of: 0) * (layout.height - 1) + layout.width * channels
            var needed = 0
            guard JxlDecoderImageOutBufferSize(decoder, &form, &needed) == JXL_DEC_SUCCESS, needed <= picture.allocatedBytes,
                needed >= size
            else { throw .damaged(reason: "the frame has another size than its file says") }
            try picture.withMutablePlane(0) { start throws(CodecError) in
                guard JxlDecoderSetImageOutBuffer(decoder, &form, start, needed) == JXL_DEC_SUCCESS else {
                    throw .unsupported("this version of libjxl")
                }
                do throws(CodecError) {
                    try input.advance(decoder, to: JXL_DEC_FULL_IMAGE)
                } catch {
                    guard isLenient, error == .truncated, JxlDecoderFlushImage(decoder) == JXL_DEC_SUCCESS else { throw error }
                }
            }
            if layout.hasAlpha, info.alpha_premultiplied != 0 { try unmultiply(&picture) }
            return picture
        }

        /// Divides the colours by alpha, which libjxl 0.7 does not do for every file.
        private func unmultiply(_ picture: inout PixelBuffer) throws(CodecError) {
            let (width, channels) = (picture.layout.width, picture.layout.planes[0].channels)
            var watch = DeadlineWatch(input.deadline)
            for y in 0..<picture.layout.height {
                try watch.row(samples: width * channels)
                picture.withMutableRow(y) { row in
                    for pixel in stride(from: 0, to: width * channels, by: channels) {
                        let alpha = Int(row[pixel + channels - 1])
                        for channel in pixel..<(pixel + channels - 1) {
                            row[channel] = alpha == 0 ? 0 : UInt8(min(255, (Int(row[channel]) * 255 + alpha / 2) / alpha))
                        }
                    }
                }
            }
        }
    }
#endif

#if JXL
    internal import CJXL
    public import OnesheetCore

    /// A drawn JPEG XL file, encoded with libjxl, and the samples that it must show.
    public struct DrawnJPEGXL: Sendable {
        public enum Colors: Sendable {
            case sRGB, pq, hlg, displayP3
            case profile([UInt8])
        }

        public var width: Int
        public var height: Int
        public var isGray: Bool
        public var hasAlpha: Bool
        /// Only of a lossless picture of 32 × 8 pixels with alpha.
        public var isPremultiplied = false
        public var isLossless: Bool
        /// 8 or 16.
        public var bits = 8
        public var orientation = Orientation.up
        public var colors = Colors.sRGB
        public var exif: [UInt8]?
        /// Frames of an animation. The second one is inverted.
        public var frames = 1
        /// Whether there is a channel for black ink.
        public var hasBlack = false
        /// Whether the samples are spread, so that the file is large.
        public var isNoisy = false
        public var extraChannels = 0

        public init(width: Int, height: Int, isGray: Bool = false, hasAlpha: Bool = false, isLossless: Bool = true) {
            self.width = width
            self.height = height
            self.isGray = isGray
            self.hasAlpha = hasAlpha
            self.isLossless = isLossless
        }

        private var channels: Int { (isGray ? 1 : 3) + (hasAlpha ? 1 : 0) }

        /// All samples of the picture, 8 bits each.
        public var decoded: [UInt8] {
            (0..<(width * height)).flatMap { place -> [UInt8] in
                let (x, y) = (place % width, place / width)
                let opacity = [255, 0, 255, 128][(x / 4) % 4]
                return (0..<channels).map { channel -> UInt8 in
                    if hasAlpha, channel == channels - 1 { return UInt8(opacity) }
                    let value = isNoisy ? (x * 7919 + y * 104_729 + channel * 31) % 251 : min(255, 20 + channel * 40 + x * 2 + y)
                    // As a premultiplied picture comes back.
                    guard hasAlpha, isPremultiplied else { return UInt8(value) }
                    let stored = value * opacity / 255
                    return opacity == 0 ? 0 : UInt8(min(255, (stored * 255 + opacity / 2) / opacity))
                }
            }
        }

        /// The samples to encode.
        private var stored: [UInt8] {
            guard hasAlpha, isPremultiplied else { return decoded }
            var samples = decoded
            for place in stride(from: 0, to: samples.count, by: channels) {
                let opacity = Int(samples[place + channels - 1])
                for channel in place..<(place + channels - 1) {
                    samples[channel] = UInt8((Int(samples[channel]) * opacity + 127) / 255)
                }
            }
            return samples
        }

        public var file: [UInt8] {
            guard let encoder = JxlEncoderCreate(nil) else { preconditionFailure("libjxl makes no encoder") }
            defer { JxlEncoderDestroy(encoder) }
            describe(encoder)
            guard let settings = JxlEncoderFrameSettingsCreate(encoder, nil) else { preconditionFailure("libjxl has no settings") }
            check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 3), "effort")
            if isLossless {
                check(JxlEncoderSetFrameLossless(settings, 1), "lossless")
            } else {
                check(JxlEncoderSetFrameDistance(settings, 1), "distance")
            }
            if let exif {
                check(JxlEncoderUseBoxes(encoder), "boxes")
                let body = [0, 0, 0, 0] + exif
                check(JxlEncoderAddBox(encoder, "Exif".utf8.map { CChar($0) }, body, body.count, 0), "Exif")
            }
            for frame in 0..<frames {
                if frames > 1 {
                    var header = JxlFrameHeader()
                    JxlEncoderInitFrameHeader(&header)
                    header.duration = 1
                    check(JxlEncoderSetFrameHeader(settings, &header), "frame")
                }
                add(frame == 0 ? stored : stored.map { 255 - $0 }, settings)
            }
            JxlEncoderCloseInput(encoder)
            let file = Self.output(of: encoder)
            guard isPremultiplied else { return file }
            // libjxl 0.7 does not encode premultiplied pictures, so the header says it afterwards.
            let (straight, premultiplied) = (Self.header(isPremultiplied: false), Self.header(isPremultiplied: true))
            precondition(file.starts(with: straight), "libjxl writes another header")
            return premultiplied + file.dropFirst(straight.count)
        }

        /// The header of a picture of 32 × 8 pixels in sRGB with alpha, 8 bits a sample (ISO/IEC 18181-1 annex D).
        private static func header(isPremultiplied: Bool) -> [UInt8] {
            // Each field as a number of bits and its value.
            var fields = [
                (16, 0x0AFF), (1, 1), (5, 8 / 8 - 1), (3, 0), (5, 32 / 8 - 1),  // The signature, and the size in eights.
                (1, 0), (1, 0), (1, 0), (2, 0), (1, 1), (2, 1),  // Eight bits, buffers of 16, and one more channel.
            ]
            // The usual alpha channel, or its type, its depth, no shift, no name, premultiplied.
            fields += isPremultiplied ? [(1, 0), (2, 0), (3, 0), (2, 0), (2, 0), (1, 1)] : [(1, 1)]
            fields += [(1, 0), (1, 1), (2, 0), (1, 1)]  // No XYB, sRGB, no extensions, the usual transforms.
            let bits = fields.flatMap { count, value in (0..<count).map { value >> $0 & 1 } }
            return stride(from: 0, to: bits.count, by: 8).map { start in
                bits[start..<min(start + 8, bits.count)].enumerated().reduce(UInt8(0)) {
                    $0 | UInt8($1.element) << UInt8($1.offset)
                }
            }
        }

        private func describe(_ encoder: OpaquePointer) {
            var info = JxlBasicInfo()
            JxlEncoderInitBasicInfo(&info)
            (info.xsize, info.ysize) = (UInt32(width), UInt32(height))
            info.bits_per_sample = UInt32(bits)
            info.num_color_channels = isGray ? 1 : 3
            info.num_extra_channels = UInt32((hasAlpha ? 1 : 0) + (hasBlack ? 1 : 0) + extraChannels)
            info.alpha_bits = hasAlpha ? UInt32(bits) : 0
            info.orientation = JxlOrientation(rawValue: UInt32(orientation.rawValue))
            info.uses_original_profile = isLossless ? 1 : 0
            if frames > 1 {
                info.have_animation = 1
                (info.animation.tps_numerator, info.animation.tps_denominator) = (10, 1)
            }
            if bits == 16 || hasBlack || extraChannels > 0 { check(JxlEncoderSetCodestreamLevel(encoder, 10), "level") }
            check(JxlEncoderSetBasicInfo(encoder, &info), "size")
            for index in (hasAlpha ? 1 : 0)..<max(Int(info.num_extra_channels), hasAlpha ? 1 : 0) {
                var channel = JxlExtraChannelInfo()
                let kind = hasBlack && index == Int(info.num_extra_channels) - 1 ? JXL_CHANNEL_BLACK : JXL_CHANNEL_DEPTH
                JxlEncoderInitExtraChannelInfo(kind, &channel)
                check(JxlEncoderSetExtraChannelInfo(encoder, index, &channel), "extra channel")
            }
            if case .profile(let profile) = colors {
                check(JxlEncoderSetICCProfile(encoder, profile, profile.count), "profile")
                return
            }
            var encoding = JxlColorEncoding()
            JxlColorEncodingSetToSRGB(&encoding, isGray ? 1 : 0)
            switch colors {
            case .pq: encoding.transfer_function = JXL_TRANSFER_FUNCTION_PQ
            case .hlg: encoding.transfer_function = JXL_TRANSFER_FUNCTION_HLG
            case .displayP3: encoding.primaries = JXL_PRIMARIES_P3
            case .sRGB, .profile: break
            }
            check(JxlEncoderSetColorEncoding(encoder, &encoding), "colours")
        }

        private func add(_ samples: [UInt8], _ settings: OpaquePointer) {
            var form = JxlPixelFormat(
                num_channels: UInt32(channels), data_type: bits == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                endianness: JXL_NATIVE_ENDIAN, align: 0)
            let wide = samples.map { UInt16($0) * 257 }
            if bits == 16 {
                check(JxlEncoderAddImageFrame(settings, &form, wide, wide.count * 2), "picture")
            } else {
                check(JxlEncoderAddImageFrame(settings, &form, samples, samples.count), "picture")
            }
            let empty = [UInt8](repeating: 7, count: width * height)
            form = JxlPixelFormat(num_channels: 1, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
            for index in 0..<((hasBlack ? 1 : 0) + extraChannels) {
                let status = JxlEncoderSetExtraChannelBuffer(
                    settings, &form, empty, empty.count, UInt32(index + (hasAlpha ? 1 : 0)))
                check(status, "samples of an extra channel")
            }
        }

        private static func output(of encoder: OpaquePointer) -> [UInt8] {
            var file: [UInt8] = []
            while true {
                var part = [UInt8](repeating: 0, count: 65_536)
                let (status, rest) = part.withUnsafeMutableBufferPointer { part -> (JxlEncoderStatus, Int) in
                    var (next, rest) = (part.baseAddress, part.count)
                    return (JxlEncoderProcessOutput(encoder, &next, &rest), rest)
                }
                file += part.dropLast(rest)
                if status == JXL_ENC_SUCCESS { return file }
                precondition(status == JXL_ENC_NEED_MORE_OUTPUT, "libjxl encodes the picture")
            }
        }

        private func check(_ status: JxlEncoderStatus, _ what: String) {
            precondition(status == JXL_ENC_SUCCESS, "libjxl takes the \(what)")
        }
    }
#endif

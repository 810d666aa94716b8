#if WebP
    internal import NIOCore
    internal import OnesheetCore

    /// The chunks of an encoded WebP file, to be written again with metadata (RFC 9649 §2.7).
    struct WebPChunks {
        private var pictures: [(name: String, bytes: ByteBuffer)] = []
        private static let profileFlag: UInt32 = 0x20
        private static let alphaFlag: UInt32 = 0x10
        private static let exifFlag: UInt32 = 0x08

        /// - Parameter file: the output of libwebp.
        init(_ file: ByteBuffer) {
            var rest = file
            rest.moveReaderIndex(forwardBy: 12)
            while let name = rest.readString(length: 4), let size = rest.readInteger(endianness: .little, as: UInt32.self),
                let bytes = rest.readSlice(length: Int(size))
            {
                if name != "VP8X" { pictures.append((name, bytes)) }
                if size % 2 == 1 { _ = rest.readSlice(length: 1) }
            }
        }

        func file(_ layout: PixelLayout, profile: [UInt8]?, exif: [UInt8]?) -> ByteBuffer {
            var header = ByteBuffer()
            let flags =
                (profile == nil ? 0 : Self.profileFlag) | (exif == nil ? 0 : Self.exifFlag) | (layout.hasAlpha ? Self.alphaFlag : 0)
            header.writeInteger(flags, endianness: .little)
            for side in [layout.width, layout.height] {
                let least = UInt32(side - 1)
                header.writeBytes([UInt8(least & 255), UInt8(least >> 8 & 255), UInt8(least >> 16)])
            }
            var chunks = [("VP8X", header)]
            if let profile { chunks.append(("ICCP", ByteBuffer(bytes: profile))) }
            chunks += pictures
            if let exif { chunks.append(("EXIF", ByteBuffer(bytes: exif))) }

            var body = ByteBuffer(string: "WEBP")
            for (name, bytes) in chunks {
                body.writeString(name)
                body.writeInteger(UInt32(bytes.readableBytes), endianness: .little)
                body.writeImmutableBuffer(bytes)
                if bytes.readableBytes % 2 == 1 { body.writeInteger(UInt8(0)) }
            }
            var file = ByteBuffer(string: "RIFF")
            file.writeInteger(UInt32(body.readableBytes), endianness: .little)
            file.writeBuffer(&body)
            return file
        }
    }
#endif

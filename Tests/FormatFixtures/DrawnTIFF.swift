#if TIFF
    internal import CTIFF

    /// A drawn TIFF file, encoded with libtiff, and the samples that it must show.
    public struct DrawnTIFF: Sendable {
        public enum Colors: Sendable, CaseIterable {
            case black0, white0, rgb, palette, cmyk
        }

        public enum Alpha: Sendable, CaseIterable {
            case none, straight, premultiplied, unknown
        }

        public enum Compression: UInt32, Sendable, CaseIterable {
            case none = 1
            case fax4 = 4
            case lzw = 5
            case jpeg = 7
            case deflate = 8
            case packBits = 32773
            case zstd = 50000
            case lzma = 34925
        }

        public var width: Int
        public var height: Int
        public var colors: Colors
        public var bits: Int
        public var alpha: Alpha
        public var compression: Compression
        public var isSeparate = false
        public var tile: (width: Int, height: Int)?
        public var rowsPerStrip = 8
        public var orientation = 1
        public var profile: [UInt8]?
        public var copyright: String?
        public var isBig = false
        public var isBigEndian = false
        /// A tag and its value, written last: for what the drawing does not have.
        public var tags: [(tag: UInt32, value: UInt32)] = []

        public init(
            width: Int, height: Int, _ colors: Colors = .rgb, bits: Int = 8, alpha: Alpha = .none, compression: Compression = .lzw
        ) {
            self.width = width
            self.height = height
            self.colors = colors
            self.bits = bits
            self.alpha = alpha
            self.compression = compression
        }

        private var colorSamples: Int { [.black0: 1, .white0: 1, .rgb: 3, .palette: 1, .cmyk: 4][colors] ?? 0 }
        private var samples: Int { colorSamples + (alpha == .none ? 0 : 1) }
        private var largest: Int { 1 << bits - 1 }

        /// The stored value of a sample.
        private func stored(_ x: Int, _ y: Int, sample: Int) -> Int {
            let value = (x * 5 + y * 3 + sample * 40) & 255
            let opacity = [255, 0, 255, 128][(x / 4) % 4]
            if sample == colorSamples { return opacity * largest / 255 }
            guard bits >= 8 else { return value % (largest + 1) }
            let scaled = bits == 16 ? value * 257 : value
            return alpha == .premultiplied ? scaled * opacity / 255 : scaled
        }

        /// Red, green and blue of an index.
        private static func color(_ index: Int) -> [Int] { [index * 3 & 255, 255 - index, index * 7 & 255] }

        /// All samples of the decoded picture, 8 bits each.
        public var decoded: [UInt8] {
            let hasAlpha = alpha == .straight || alpha == .premultiplied
            return (0..<(width * height)).flatMap { place -> [UInt8] in
                let (x, y) = (place % width, place / width)
                var pixel = (0..<colorSamples).map { sample -> Int in
                    let value = stored(x, y, sample: sample)
                    return bits == 16 ? (value * 255 + 32_767) / 65_535 : colors == .palette ? value : value * (255 / largest)
                }
                if colors == .white0 { pixel = pixel.map { 255 - $0 } }
                if colors == .palette { pixel = Self.color(pixel[0]) }
                guard hasAlpha else { return pixel.map { UInt8($0) } }
                let opacity = [255, 0, 255, 128][(x / 4) % 4]
                if alpha == .premultiplied {
                    pixel = pixel.map { opacity == 0 ? 0 : min(255, ($0 * 255 + opacity / 2) / opacity) }
                }
                return (pixel + [opacity]).map { UInt8($0) }
            }
        }

        public var file: [UInt8] {
            let memory = WrittenFile()
            let mode = "w" + (isBig ? "8" : "4") + (isBigEndian ? "b" : "l")
            guard let file = WrittenFile.open(memory, mode: mode) else { preconditionFailure("libtiff makes no file") }
            describe(file)
            if let tile { writeTiles(tile, to: file) } else { writeRows(to: file) }
            TIFFClose(file)
            return memory.bytes
        }

        private func describe(_ file: OpaquePointer) {
            let photometrics: [Colors: Int32] = [
                .black0: PHOTOMETRIC_MINISBLACK, .white0: PHOTOMETRIC_MINISWHITE, .rgb: PHOTOMETRIC_RGB,
                .palette: PHOTOMETRIC_PALETTE,
                .cmyk: PHOTOMETRIC_SEPARATED,
            ]
            var photometric = photometrics[colors] ?? 0
            if compression == .jpeg, colors == .rgb { photometric = PHOTOMETRIC_YCBCR }
            var values: [(Int32, UInt32)] = [
                (TIFFTAG_IMAGEWIDTH, UInt32(width)), (TIFFTAG_IMAGELENGTH, UInt32(height)), (TIFFTAG_BITSPERSAMPLE, UInt32(bits)),
                (TIFFTAG_SAMPLESPERPIXEL, UInt32(samples)), (TIFFTAG_COMPRESSION, compression.rawValue),
                (TIFFTAG_PHOTOMETRIC, UInt32(photometric)),
                (TIFFTAG_PLANARCONFIG, UInt32(isSeparate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG)),
                (TIFFTAG_ORIENTATION, UInt32(orientation)),
            ]
            if let tile {
                values += [(TIFFTAG_TILEWIDTH, UInt32(tile.width)), (TIFFTAG_TILELENGTH, UInt32(tile.height))]
            } else {
                // Chroma at half the resolution needs strips of two blocks.
                values.append((TIFFTAG_ROWSPERSTRIP, UInt32(compression == .jpeg ? 16 : rowsPerStrip)))
            }
            if compression == .jpeg { values += [(TIFFTAG_JPEGQUALITY, 95), (TIFFTAG_JPEGCOLORMODE, UInt32(JPEGCOLORMODE_RGB))] }
            for (tag, value) in values + tags.map({ (Int32($0.tag), $0.value) }) {
                precondition(ctiff_set(file, UInt32(tag), value), "libtiff takes \(value) for \(tag)")
            }
            if alpha != .none {
                let kinds: [Alpha: Int32] = [.straight: EXTRASAMPLE_UNASSALPHA, .premultiplied: EXTRASAMPLE_ASSOCALPHA]
                _ = ctiff_set_array(file, UInt32(TIFFTAG_EXTRASAMPLES), 1, [UInt16(kinds[alpha] ?? EXTRASAMPLE_UNSPECIFIED)])
            }
            if colors == .palette {
                let palette = (0...2).map { channel in (0...largest).map { UInt16(Self.color($0)[channel] * 257) } }
                _ = ctiff_set_palette(file, palette[0], palette[1], palette[2])
            }
            if let profile { _ = ctiff_set_array(file, UInt32(TIFFTAG_ICCPROFILE), UInt32(profile.count), profile) }
            if let copyright { _ = ctiff_set_text(file, UInt32(TIFFTAG_COPYRIGHT), copyright) }
        }

        private func writeRows(to file: OpaquePointer) {
            for plane in 0..<(isSeparate ? samples : 1) {
                for y in 0..<height {
                    var row = packed(y, columns: 0..<width, plane: plane)
                    precondition(TIFFWriteScanline(file, &row, UInt32(y), UInt16(plane)) == 1, "libtiff writes a row")
                }
            }
        }

        private func writeTiles(_ tile: (width: Int, height: Int), to file: OpaquePointer) {
            for plane in 0..<(isSeparate ? samples : 1) {
                for y in stride(from: 0, to: height, by: tile.height) {
                    for x in stride(from: 0, to: width, by: tile.width) {
                        var rows = (y..<(y + tile.height)).flatMap { packed($0, columns: x..<(x + tile.width), plane: plane) }
                        let written = TIFFWriteTile(file, &rows, UInt32(x), UInt32(y), 0, UInt16(plane))
                        precondition(written > 0, "libtiff writes a tile")
                    }
                }
            }
        }

        /// A part of a row in the form of the file.
        private func packed(_ y: Int, columns: Range<Int>, plane: Int) -> [UInt8] {
            let values = columns.flatMap { x in (isSeparate ? [plane] : Array(0..<samples)).map { stored(x, y, sample: $0) } }
            if bits == 16 { return values.flatMap { value in withUnsafeBytes(of: UInt16(value)) { Array($0) } } }
            var bytes = [UInt8](repeating: 0, count: (values.count * bits + 7) / 8)
            for (index, value) in values.enumerated() {
                bytes[index * bits / 8] |= UInt8(value) << UInt8(8 - bits - index * bits % 8)
            }
            return bytes
        }
    }

    /// A file that libtiff writes into memory.
    private final class WrittenFile {
        var bytes: [UInt8] = []
        private var position = 0

        static func open(_ file: WrittenFile, mode: String) -> OpaquePointer? {
            TIFFClientOpen(
                "drawn", mode, Unmanaged.passUnretained(file).toOpaque(),
                { handle, memory, count in WrittenFile.of(handle)?.read(memory, count) ?? -1 },
                { handle, memory, count in WrittenFile.of(handle)?.write(memory, count) ?? -1 },
                { handle, offset, origin in WrittenFile.of(handle)?.seek(offset, origin) ?? .max },
                { _ in 0 }, { handle in UInt64(WrittenFile.of(handle)?.bytes.count ?? 0) }, { _, _, _ in 0 }, { _, _, _ in })
        }

        private static func of(_ handle: UnsafeMutableRawPointer?) -> WrittenFile? {
            handle.map { Unmanaged<WrittenFile>.fromOpaque($0).takeUnretainedValue() }
        }

        private func read(_ memory: UnsafeMutableRawPointer?, _ count: tmsize_t) -> tmsize_t {
            let part = bytes.dropFirst(position).prefix(Int(count))
            memory?.copyMemory(from: Array(part), byteCount: part.count)
            position += part.count
            return tmsize_t(part.count)
        }

        private func write(_ memory: UnsafeMutableRawPointer?, _ count: tmsize_t) -> tmsize_t {
            let end = position + Int(count)
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(position..<end, with: UnsafeRawBufferPointer(start: memory, count: Int(count)))
            position = end
            return count
        }

        private func seek(_ offset: UInt64, _ origin: Int32) -> UInt64 {
            position = (origin == 1 ? position : origin == 2 ? bytes.count : 0) + Int(offset)
            return UInt64(position)
        }
    }
#endif

#if TIFF
    internal import CTIFF
    internal import OnesheetCore

    /// A file opened at its first directory. The bytes stay in place during its lifetime.
    struct TIFFFile: ~Copyable {
        private let input: UnsafeMutablePointer<ctiff_input>
        private let file: OpaquePointer
        let form: TIFFForm

        /// The largest allocation of libtiff while it reads a directory of a picture of any size.
        static let largestDirectory = 16 << 20

        /// - Parameters:
        ///   - bytes: must stay in place during the lifetime of this object.
        ///   - largestAllocation: the most bytes of one allocation.
        init(_ bytes: UnsafeBufferPointer<UInt8>, largestAllocation: Int) throws(CodecError) {
            let input = UnsafeMutablePointer<ctiff_input>.allocate(capacity: 1)
            input.initialize(to: ctiff_input())
            input.pointee.bytes = bytes.baseAddress
            input.pointee.count = UInt64(bytes.count)
            guard let file = bytes.isEmpty ? nil : ctiff_open(input, tmsize_t(largestAllocation)) else {
                let error = Self.error(input, isTruncated: Self.endsBeforeDirectory(bytes))
                input.deallocate()
                throw error
            }
            let form: TIFFForm
            do throws(CodecError) {
                form = try TIFFForm(file)
            } catch {
                TIFFClose(file)
                input.deallocate()
                throw error
            }
            self.input = input
            self.file = file
            self.form = form
            input.pointee.problems = 0
            input.pointee.watches_rows = true
        }

        deinit {
            TIFFClose(file)
            input.deallocate()
        }

        var header: ImageHeader {
            ImageHeader(
                format: .tiff, width: form.width, height: form.height, model: form.model, hasAlpha: form.layout.hasAlpha,
                orientation: Orientation(rawValue: Int(ctiff_short(file, UInt32(TIFFTAG_ORIENTATION), 1))) ?? .up,
                colors: profile.map(ColorDescription.icc) ?? .sRGB, isProgressive: form.needsManyRows, copyright: copyright)
        }

        private var profile: [UInt8]? {
            var count: UInt32 = 0
            guard let start = ctiff_profile(file, &count), (1...ImageHeader.largestProfile).contains(Int(count)) else { return nil }
            return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
        }

        private var copyright: String? {
            guard let text = ctiff_copyright(file).map({ String(cString: $0) }), !text.isEmpty else { return nil }
            return text
        }

        /// The bytes of a row of one plane, or of all samples.
        var rowBytes: Int { Int(TIFFScanlineSize(file)) }
        /// The bytes of a tile.
        var tileBytes: Int { Int(TIFFTileSize(file)) }
        /// The bytes of a row of a tile.
        var tileRowBytes: Int { Int(TIFFTileRowSize(file)) }

        /// Reads row `y` of a file of strips.
        func readRow(_ y: Int, plane: Int, to memory: UnsafeMutableRawPointer, isLenient: Bool) throws(CodecError) {
            let status = TIFFReadScanline(file, memory, UInt32(y), UInt16(plane))
            guard status == 1, isLenient || input.pointee.problems == 0 else {
                throw error(strile: TIFFComputeStrip(file, UInt32(y), UInt16(plane)))
            }
        }

        /// Reads the tile at a place of the picture.
        func readTile(x: Int, y: Int, plane: Int, to memory: UnsafeMutableRawPointer, isLenient: Bool) throws(CodecError) {
            let status = TIFFReadTile(file, memory, UInt32(x), UInt32(y), 0, UInt16(plane))
            guard status > 0, isLenient || input.pointee.problems == 0 else {
                throw error(strile: TIFFComputeTile(file, UInt32(x), UInt32(y), 0, UInt16(plane)))
            }
        }

        /// The error of reading a strip or tile.
        private func error(strile: UInt32) -> CodecError {
            let (end, overflow) = TIFFGetStrileOffset(file, strile)
                .addingReportingOverflow(TIFFGetStrileByteCount(file, strile))
            return Self.error(input, isTruncated: overflow || end > input.pointee.count)
        }

        private static func error(_ input: UnsafePointer<ctiff_input>, isTruncated: Bool) -> CodecError {
            guard !isTruncated else { return .truncated }
            let message = String(cString: ctiff_message(input))
            return .damaged(reason: message.isEmpty ? "the rows are not valid" : message)
        }

        /// Whether the place of the first directory is not in the file.
        private static func endsBeforeDirectory(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            guard bytes.count >= 16 else { return true }
            let isBig = bytes[2] == 43 || bytes[3] == 43
            let place = isBig ? Array(bytes[8..<16]) : Array(bytes[4..<8])
            let offset = (bytes[0] == 0x49 ? place.reversed() : place).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return offset >= UInt64(bytes.count)
        }
    }
#endif

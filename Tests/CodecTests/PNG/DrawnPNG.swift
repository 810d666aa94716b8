import CPNG
import OnesheetCore

/// A PNG file for tests from an independent encoder: any colour type, depth, interlacing and filters, in stored blocks.
struct DrawnPNG {
    enum Kind: Int, CaseIterable {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][rawValue] ?? 1 }
        var depths: [Int] {
            switch self {
            case .gray: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .grayAlpha, .rgba: [8, 16]
            }
        }
    }

    var kind: Kind
    var depth: Int
    var width = 13
    var height = 11
    var isInterlaced = false
    /// The filters of rows, in turn.
    var filters = [0, 1, 2, 3, 4]
    /// Bytes per IDAT.
    var split = Int.max
    /// Colours of a palette: R G B.
    var palette: [[UInt8]] = []
    /// As in tRNS: alphas of a palette, or two bytes per channel.
    var transparency: [UInt8]?
    /// Chunks before PLTE, between PLTE and IDAT, and after the IDATs.
    var early: [(name: String, bytes: [UInt8])] = []
    var late: [(name: String, bytes: [UInt8])] = []

    /// The value of sample `channel` of the pixel at (x, y), in `depth` bits.
    func sample(_ x: Int, _ y: Int, _ channel: Int) -> Int {
        let value = (x * 7 + y * 13 + channel * 29 + x * y) * (depth == 16 ? 2657 : depth == 8 ? 5 : 1)
        return kind == .palette ? value % palette.count : value % (1 << depth)
    }

    /// The passes of Adam7, or the single pass without interlacing: first column and row, and steps.
    private var passes: [(x: Int, y: Int, right: Int, down: Int)] {
        guard isInterlaced else { return [(0, 0, 1, 1)] }
        return [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    }

    private func packed(_ samples: [Int]) -> [UInt8] {
        if depth == 16 { return samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
        let perByte = 8 / depth
        return stride(from: 0, to: samples.count, by: perByte).map { start in
            (0..<perByte).reduce(0) { byte, place in
                let sample = start + place < samples.count ? samples[start + place] : 0
                return byte | UInt8(sample << (8 - depth * (place + 1)))
            }
        }
    }

    /// All rows with their filters, before compression.
    var scanlines: [UInt8] {
        var out: [UInt8] = []
        var count = 0
        for pass in passes {
            let columns = Array(stride(from: pass.x, to: width, by: pass.right))
            var above: [UInt8] = []
            for y in stride(from: pass.y, to: height, by: pass.down) where !columns.isEmpty {
                let row = packed(columns.flatMap { x in (0..<kind.channels).map { sample(x, y, $0) } })
                let filter = filters[count % filters.count]
                out.append(UInt8(filter))
                out += filtered(row, above: above.isEmpty ? [UInt8](repeating: 0, count: row.count) : above, by: filter)
                above = row
                count += 1
            }
        }
        return out
    }

    private func filtered(_ row: [UInt8], above: [UInt8], by filter: Int) -> [UInt8] {
        let step = max(1, kind.channels * depth / 8)
        return row.indices.map { place in
            let a = place >= step ? Int(row[place - step]) : 0
            let b = Int(above[place])
            let c = place >= step ? Int(above[place - step]) : 0
            let paeth = [a, b, c].min { abs(a + b - c - $0) < abs(a + b - c - $1) } ?? 0
            return row[place] &- UInt8([0, a, b, (a + b) / 2, paeth][min(filter, 4)])
        }
    }

    var file: [UInt8] { Self.file(header: header, chunks: early + paletteChunks + pictureChunks(Self.zlib(scanlines)) + late) }

    var header: [UInt8] {
        Self.number(width) + Self.number(height) + [UInt8(depth), UInt8(kind.rawValue), 0, 0, isInterlaced ? 1 : 0]
    }

    var paletteChunks: [(name: String, bytes: [UInt8])] {
        (palette.isEmpty ? [] : [("PLTE", palette.flatMap { $0 })]) + (transparency.map { [("tRNS", $0)] } ?? [])
    }

    func pictureChunks(_ stream: [UInt8]) -> [(name: String, bytes: [UInt8])] {
        stride(from: 0, to: stream.count, by: min(split, stream.count)).map {
            ("IDAT", Array(stream[$0..<min(stream.count, $0 + min(split, stream.count))]))
        }
    }

    static func file(header: [UInt8], chunks: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        ([("IHDR", header)] + chunks + [("IEND", [])]).reduce([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            $0 + chunk($1.name, $1.bytes)
        }
    }

    static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        number(bytes.count) + Array(name.utf8) + bytes + number(crc(Array(name.utf8) + bytes))
    }

    static func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }

    /// CRC-32 with a byte table, which is computed bit by bit (ISO/IEC 15948 Annex D).
    static func crc(_ bytes: [UInt8]) -> Int {
        var crc: UInt32 = .max
        for byte in bytes { crc = remainders[Int((crc ^ UInt32(byte)) & 255)] ^ crc >> 8 }
        return Int(~crc)
    }

    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }

    /// A zlib stream (RFC 1950) of stored blocks (RFC 1951 §3.2.4).
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: max(bytes.count, 1), by: 65535) {
            let block = bytes[start..<min(bytes.count, start + 65535)]
            let (low, high) = (UInt8(block.count & 255), UInt8(block.count >> 8))
            out += [start + 65535 >= bytes.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        return out + number(adler(bytes))
    }

    static func adler(_ bytes: [UInt8]) -> Int {
        var (first, second) = (1, 0)
        for byte in bytes {
            first = (first + Int(byte)) % 65521
            second = (second + first) % 65521
        }
        return second << 16 | first
    }

    /// A zlib stream of libdeflate: stored blocks at level 0, otherwise of codes, some of them fixed.
    static func deflated(_ bytes: [UInt8], level: Int32) throws(CodecError) -> [UInt8] {
        var stream: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard cpng_deflate(bytes, bytes.count, level, &stream, &count) == CPNG_OK, let stream else { throw .outOfMemory }
        defer { cpng_free(stream) }
        return Array(UnsafeBufferPointer(start: stream, count: count))
    }

    /// The file with another stream of its rows.
    func file(of stream: [UInt8]) -> [UInt8] {
        Self.file(header: header, chunks: early + paletteChunks + pictureChunks(stream) + late)
    }

    /// The expected pixels of the file: red, green, blue and alpha in 8 bits.
    var rgba: [UInt8] {
        (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } }
    }

    private func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let samples = (0..<kind.channels).map { sample(x, y, $0) }
        if kind == .palette {
            let alpha = transparency.map { samples[0] < $0.count ? $0[samples[0]] : 255 } ?? 255
            return palette[samples[0]] + [alpha]
        }
        let bytes = samples.map(eightBits)
        let color = kind.channels < 3 ? [bytes[0], bytes[0], bytes[0]] : Array(bytes[..<3])
        if kind == .grayAlpha || kind == .rgba { return color + [bytes[kind.channels - 1]] }
        let key = transparency.map { key in stride(from: 0, to: key.count, by: 2).map { Int(key[$0]) << 8 | Int(key[$0 + 1]) } }
        return color + [samples == key ? 0 : 255]
    }

    /// The nearest of 256 values (no sample lies between two).
    private func eightBits(_ sample: Int) -> UInt8 {
        let largest = (1 << depth) - 1
        return UInt8((sample * 255 * 2 + largest) / (largest * 2))
    }

    /// Every colour type and depth, with and without tRNS, according to the format.
    static var everyKind: [DrawnPNG] {
        Kind.allCases.flatMap { kind in
            kind.depths.flatMap { depth -> [DrawnPNG] in
                var drawn = DrawnPNG(kind: kind, depth: depth)
                guard kind == .palette else {
                    guard kind.channels % 2 == 1 else { return [drawn] }
                    var transparent = drawn
                    transparent.transparency = (0..<kind.channels).flatMap { channel -> [UInt8] in
                        let sample = drawn.sample(5, 4, channel)
                        return [UInt8(sample >> 8), UInt8(sample & 255)]
                    }
                    return [drawn, transparent]
                }
                for index in 0..<(1 << depth) {
                    drawn.palette.append([UInt8(255 - index), UInt8(index * 7 % 256), UInt8(index * 31 % 256)])
                }
                var transparent = drawn
                transparent.transparency = (0..<(1 << depth) / 2).map { index -> UInt8 in UInt8(index * 100 % 256) }
                return [drawn, transparent]
            }
        }
    }

    var name: String { "\(kind) \(depth)\(transparency == nil ? "" : " tRNS")\(isInterlaced ? " interlaced" : "")" }
}

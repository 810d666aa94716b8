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
}

extension DrawnPNG {
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

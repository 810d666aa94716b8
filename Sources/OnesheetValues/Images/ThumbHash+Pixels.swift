#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension ThumbHash {
    /// A placeholder as pixels.
    public struct Pixels: Sendable, Hashable {
        public let width: Int
        public let height: Int
        /// Red, green, blue and alpha of each pixel, row by row, 0 to 255. Colours are not multiplied by alpha.
        public let rgba: [UInt8]
    }

    /// Width divided by height, within the precision of the hash: an eighth or so.
    public var ratio: Double { layout.ratio }

    /// Whether some pixels are transparent.
    public var hasAlpha: Bool { layout.hasAlpha }

    /// The placeholder as a picture with 32 pixels on its longer side, to be scaled up smoothly.
    public var pixels: Pixels {
        let layout = layout
        let width = max(1, Int((32 * min(1, layout.ratio)).rounded()))
        let height = max(1, Int((32 / max(1, layout.ratio)).rounded()))
        var reader = FactorReader(bytes: bytes, position: layout.headerSize * 2)
        let luma = reader.channel(layout.luma, countX: layout.countX, countY: layout.countY)
        // The rounding of factors makes colours duller.
        let yellow = reader.channel(layout.yellow, boost: 1.25)
        let red = reader.channel(layout.red, boost: 1.25)
        let alpha = layout.alpha.map { reader.channel($0, countX: 5, countY: 5) }
        let columns = Self.waves(7, over: width)
        let rows = Self.waves(7, over: height)
        var rgba: [UInt8] = []
        rgba.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for x in 0..<width {
                func value(_ channel: DecodedChannel) -> Float { channel.value(columns: columns, rows: rows, x: x, y: y) }
                let (brightness, warmth, redness) = (value(luma), value(yellow), value(red))
                let blue = brightness - 2 / 3 * warmth
                let redLevel = (3 * brightness - blue + redness) / 2
                for level in [redLevel, redLevel - redness, blue, alpha.map(value) ?? 1] {
                    rgba.append(UInt8(min(max(level, 0), 1) * 255))
                }
            }
        }
        return Pixels(width: width, height: height, rgba: rgba)
    }

    private var layout: Layout {
        guard let layout = Layout(bytes) else { preconditionFailure("every initializer checks the header") }
        return layout
    }

    /// The cosines of each frequency at each pixel of a side.
    private static func waves(_ count: Int, over length: Int) -> [[Float]] {
        (0..<count).map { wave in (0..<length).map { cosf(.pi / Float(length) * Float(wave) * (Float($0) + 0.5)) } }
    }

    /// The constant factor of a channel, and the largest of the others.
    struct Level {
        let constant: Float
        let scale: Float
    }

    /// The header of a hash.
    struct Layout {
        let luma: Level
        let yellow: Level
        let red: Level
        /// `nil` if the picture is opaque.
        let alpha: Level?
        /// The numbers of frequencies of brightness.
        let countX: Int
        let countY: Int
        let ratio: Double

        var hasAlpha: Bool { alpha != nil }
        /// Bytes before the factors.
        var headerSize: Int { hasAlpha ? 6 : 5 }
        /// Bytes of the whole hash. The constant factors are in the header.
        var size: Int {
            let nibbles = Self.factors(countX, countY) + 2 * Self.factors(3, 3) + (hasAlpha ? Self.factors(5, 5) : 0)
            return headerSize + (nibbles + 1) / 2
        }

        init?(_ bytes: [UInt8]) {
            guard bytes.count >= 6 else { return nil }
            let color = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
            let shape = Int(bytes[3]) | Int(bytes[4]) << 8
            let (short, long) = (shape & 7, color >> 23 == 1 ? 5 : 7)
            guard short > 0 else { return nil }
            let (across, down) = shape >> 15 == 1 ? (long, short) : (short, long)
            luma = Level(constant: Float(color & 63) / 63, scale: Float(color >> 18 & 31) / 31)
            yellow = Level(constant: Float(color >> 6 & 63) / 31.5 - 1, scale: Float(shape >> 3 & 63) / 63)
            red = Level(constant: Float(color >> 12 & 63) / 31.5 - 1, scale: Float(shape >> 9 & 63) / 63)
            alpha =
                color >> 23 == 1 ? Level(constant: Float(bytes[5] & 15) / 15, scale: Float(bytes[5] >> 4) / 15) : nil
            (countX, countY, ratio) = (max(3, across), max(3, down), Double(across) / Double(down))
        }

        /// The number of factors in the triangle of a channel, without the constant one.
        static func factors(_ countX: Int, _ countY: Int) -> Int {
            (0..<countY).reduce(-1) { sum, y in sum + (0..<countX).count(where: { $0 * countY < countX * (countY - y) }) }
        }
    }

    /// Reads factors, which have four bits each.
    private struct FactorReader {
        let bytes: [UInt8]
        /// In half bytes.
        var position: Int

        mutating func channel(_ level: Level, countX: Int = 3, countY: Int = 3, boost: Float = 1) -> DecodedChannel {
            var factors: [DecodedChannel.Factor] = []
            for y in 0..<countY {
                for x in 0..<countX where x * countY < countX * (countY - y) && x + y > 0 {
                    let half = Float(bytes[position / 2] >> UInt8(position % 2 * 4) & 15)
                    factors.append(.init(x: x, y: y, weight: 2 * (half / 7.5 - 1) * level.scale * boost))
                    position += 1
                }
            }
            return DecodedChannel(constant: level.constant, factors: factors)
        }
    }

    private struct DecodedChannel {
        struct Factor {
            let x: Int
            let y: Int
            let weight: Float
        }

        let constant: Float
        let factors: [Factor]

        func value(columns: [[Float]], rows: [[Float]], x: Int, y: Int) -> Float {
            factors.reduce(constant) { $0 + $1.weight * columns[$1.x][x] * rows[$1.y][y] }
        }
    }
}

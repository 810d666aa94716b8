#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A placeholder in about 25 bytes: Evan Wallace's ThumbHash (evanw.github.io/thumbhash). It holds the proportions and the lowest
/// frequencies of brightness, yellow–blue, red–green and alpha.
public struct ThumbHash: Sendable, Hashable {
    /// The hash as bytes: about 25 of them.
    public let bytes: [UInt8]

    /// A hash from outside, as bytes.
    /// - Returns: `nil` if the bytes are too few for the size in their header, or if that size is empty.
    public init?(bytes: [UInt8]) {
        guard let layout = Layout(bytes), bytes.count >= layout.size else { return nil }
        self.bytes = bytes
    }

    /// A hash from outside, in base64 as in the JSON of a title and in the header field `Onesheet-ThumbHash`.
    /// - Returns: `nil` for text that is not base64, and for bytes that `init(bytes:)` refuses.
    public init?(base64 text: String) {
        guard let data = Data(base64Encoded: text) else { return nil }
        self.init(bytes: Array(data))
    }

    /// Makes the hash of a picture of at most 32 pixels on each side.
    /// - Parameter pixels: red, green, blue and alpha from 0 to 1, row by row.
    package init(width: Int, height: Int, pixels: [SIMD4<Float>]) {
        precondition(width > 0 && height > 0 && pixels.count == width * height, "a pixel for each place")
        let total = pixels.reduce(SIMD4<Float>.zero) { $0 + SIMD4($1.x, $1.y, $1.z, 1) * $1.w }
        let average = total.w > 0 ? total / total.w : .zero
        let hasAlpha = pixels.contains { $0.w < 1 }
        let limit: Float = hasAlpha ? 5 : 7
        let longest = Float(max(width, height))
        let lumaX = max(1, Int((limit * Float(width) / longest).rounded()))
        let lumaY = max(1, Int((limit * Float(height) / longest).rounded()))

        // Transparent pixels get the average colour.
        let colors = pixels.map { average * (1 - $0.w) + $0 * $0.w }
        func channel(_ values: [Float], countX: Int = 3, countY: Int = 3) -> Channel {
            Channel(values, width: width, height: height, countX: countX, countY: countY)
        }
        let luma = channel(colors.map { ($0.x + $0.y + $0.z) / 3 }, countX: max(3, lumaX), countY: max(3, lumaY))
        let yellow = channel(colors.map { ($0.x + $0.y) / 2 - $0.z })
        let red = channel(colors.map { $0.x - $0.y })
        let alpha = hasAlpha ? channel(pixels.map(\.w), countX: 5, countY: 5) : nil

        let isLandscape = width > height
        let colorHeader =
            Self.number(luma.constant, 63) | Self.number(0.5 + yellow.constant / 2, 63) << 6
            | Self.number(0.5 + red.constant / 2, 63) << 12 | Self.number(luma.scale, 31) << 18 | (hasAlpha ? 1 << 23 : 0)
        let shapeHeader =
            (isLandscape ? lumaY : lumaX) | Self.number(yellow.scale, 63) << 3 | Self.number(red.scale, 63) << 9
            | (isLandscape ? 1 << 15 : 0)
        var bytes = [colorHeader, colorHeader >> 8, colorHeader >> 16, shapeHeader, shapeHeader >> 8].map { UInt8($0 & 255) }
        if let alpha { bytes.append(UInt8(Self.number(alpha.constant, 15) | Self.number(alpha.scale, 15) << 4)) }
        let factors = [luma, yellow, red, alpha].compactMap { $0 }.flatMap(\.varying).map { UInt8(Self.number($0, 15)) }
        for index in stride(from: 0, to: factors.count, by: 2) {
            bytes.append(factors[index] | (index + 1 < factors.count ? factors[index + 1] << 4 : 0))
        }
        self.bytes = bytes
    }

    /// The fraction `share` of `most`, as a whole number from 0 to `most`.
    private static func number(_ share: Float, _ most: Int) -> Int { Int(min(max(share, 0), 1) * Float(most) + 0.5) }

    /// The lowest frequencies of one channel: a cosine transform with a triangle of factors.
    private struct Channel {
        private(set) var constant: Float = 0
        /// The largest of the other factors.
        private(set) var scale: Float = 0
        /// The other factors as fractions of the largest; 0.5 is zero.
        private(set) var varying: [Float] = []

        init(_ values: [Float], width: Int, height: Int, countX: Int, countY: Int) {
            let rows = Self.waves(countY, over: height)
            let columns = Self.waves(countX, over: width)
            for y in 0..<countY {
                for x in 0..<countX where x * countY < countX * (countY - y) {
                    var factor: Float = 0
                    for row in 0..<height {
                        var sum: Float = 0
                        for column in 0..<width { sum += values[row * width + column] * columns[x][column] }
                        factor += sum * rows[y][row]
                    }
                    factor /= Float(width * height)
                    if x == 0, y == 0 { constant = factor } else { varying.append(factor) }
                }
            }
            scale = varying.map(abs).max() ?? 0
            if scale > 0 { varying = varying.map { [scale] in 0.5 + 0.5 / scale * $0 } }
        }

        private static func waves(_ count: Int, over length: Int) -> [[Float]] {
            (0..<count).map { wave in (0..<length).map { cosf(.pi / Float(length) * Float(wave) * (Float($0) + 0.5)) } }
        }
    }

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
            countX = max(3, across)
            countY = max(3, down)
            ratio = Double(across) / Double(down)
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

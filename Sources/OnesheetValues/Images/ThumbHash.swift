internal import FoundationEssentials

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
}

package import OnesheetCore

/// A stand-in that an app can show before the picture has loaded.
package struct Placeholder: Sendable, Equatable {
    /// A ThumbHash.
    package let thumbHash: [UInt8]
    /// The most frequent colour of the picture.
    package let color: Color

    package init(thumbHash: [UInt8], color: Color) {
        self.thumbHash = thumbHash
        self.color = color
    }

    /// - Parameter picture: the picture before encoding.
    init(_ picture: borrowing PixelBuffer) {
        let small = Thumbnail(picture)
        thumbHash = ThumbHash(small).bytes
        color = Self.dominant(small)
    }

    /// The average of the fullest of 64 colour bins.
    static func dominant(_ picture: Thumbnail) -> Color {
        var boxes = [SIMD4<Float>](repeating: .zero, count: 64)
        for pixel in picture.pixels {
            func level(_ value: Float) -> Int { min(3, max(0, Int(value * 4))) }
            boxes[level(pixel.x) << 4 | level(pixel.y) << 2 | level(pixel.z)] += SIMD4(pixel.x, pixel.y, pixel.z, 1) * pixel.w
        }
        let fullest = boxes.max { $0.w < $1.w } ?? .zero
        guard fullest.w > 0 else { return .white }
        let color = (fullest / fullest.w * 255).rounded(.toNearestOrAwayFromZero).clamped(
            lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        return Color(red: UInt8(color.x), green: UInt8(color.y), blue: UInt8(color.z))
    }
}

extension ThumbHash {
    /// The hash of a small picture.
    init(_ picture: Thumbnail) { self.init(width: picture.width, height: picture.height, pixels: picture.pixels) }
}

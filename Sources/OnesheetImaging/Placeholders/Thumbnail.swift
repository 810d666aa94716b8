import OnesheetCore

/// A small version of a picture for placeholders: at most 32 pixels on each side, colours and alpha from 0 to 1.
struct Thumbnail {
    let width: Int
    let height: Int
    /// Red, green, blue, alpha; row by row.
    private(set) var pixels: [SIMD4<Float>] = []

    private static let side = 32
    /// The sampled pixels on each side of one thumbnail pixel. More would cost time and change almost nothing.
    private static let samples = 4

    /// - Parameter picture: in any layout that can be encoded, except inks.
    init(_ picture: borrowing PixelBuffer) {
        let layout = picture.layout
        let scale = min(1, Double(Self.side) / Double(max(layout.width, layout.height)))
        width = max(1, Int((Double(layout.width) * scale).rounded()))
        height = max(1, Int((Double(layout.height) * scale).rounded()))
        let rows = Self.places(height, in: layout.height)
        let columns = Self.places(width, in: layout.width)
        pixels.reserveCapacity(width * height)
        for row in rows {
            for column in columns {
                var sum = SIMD4<Float>.zero
                for y in row { for x in column { sum += Self.color(of: picture, x: x, y: y) } }
                let color = sum / Float(row.count * column.count)
                // Colours are weighted by their alpha.
                let alpha = max(color.w, 1e-6)
                pixels.append(SIMD4(color.x / alpha, color.y / alpha, color.z / alpha, color.w))
            }
        }
    }

    /// For tests, and for pictures that are already small.
    init(width: Int, height: Int, pixels: [SIMD4<Float>]) {
        precondition(pixels.count == width * height, "a pixel for each place")
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The sampled positions of `length` for each of `count` pixels.
    private static func places(_ count: Int, in length: Int) -> [[Int]] {
        (0..<count).map { index in
            let (start, end) = (index * length / count, max((index + 1) * length / count, index * length / count + 1))
            let taken = min(samples, end - start)
            return (0..<taken).map { start + (2 * $0 + 1) * (end - start) / (2 * taken) }
        }
    }

    /// One pixel, with colours multiplied by alpha.
    private static func color(of picture: borrowing PixelBuffer, x: Int, y: Int) -> SIMD4<Float> {
        let layout = picture.layout
        if layout.isPlanar {
            let (blueX, blueY) = (x / layout.subsampling.x, y / layout.subsampling.y)
            let luma = Float(picture.withRow(y, plane: 0) { $0[x] })
            let blue = Float(picture.withRow(blueY, plane: 1) { $0[blueX] }) - 128
            let red = Float(picture.withRow(blueY, plane: 2) { $0[blueX] }) - 128
            // ITU-T T.871
            let color = SIMD3(luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue) / 255
            return SIMD4(color.clamped(lowerBound: .zero, upperBound: .one), 1)
        }
        let channels = layout.planes[0].channels
        return picture.withRow(y) { row in
            let place = x * channels
            let alpha = layout.hasAlpha ? Float(row[place + channels - 1]) / 255 : 1
            let isGray = layout.model == .gray
            let color = SIMD3(
                Float(row[place]), Float(row[isGray ? place : place + 1]), Float(row[isGray ? place : place + 2]))
            return SIMD4(color / 255 * alpha, alpha)
        }
    }
}

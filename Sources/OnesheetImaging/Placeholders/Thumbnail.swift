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
        let rows = Self.places(height, in: layout.height, subsampling: layout.subsampling.y)
        let columns = Self.places(width, in: layout.width, subsampling: layout.subsampling.x)
        let colors = PixelColors(picture)
        pixels.reserveCapacity(width * height)
        for row in rows {
            for column in columns {
                var sum = SIMD4<Float>.zero
                for y in row {
                    let line = colors.line(y)
                    for x in column { sum += line.color(x) }
                }
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

    /// A sampled position in one direction, in luma and in chroma.
    fileprivate struct Place {
        let luma: Int
        let chroma: Int
    }

    /// The sampled positions of `length` for each of `count` pixels.
    private static func places(_ count: Int, in length: Int, subsampling: Int) -> [[Place]] {
        (0..<count).map { index in
            let (start, end) = (index * length / count, max((index + 1) * length / count, index * length / count + 1))
            let taken = min(samples, end - start)
            return (0..<taken).map { sample in
                let place = start + (2 * sample + 1) * (end - start) / (2 * taken)
                return Place(luma: place, chroma: place / subsampling)
            }
        }
    }
}

/// Reads single pixels of a picture, which it must not outlive. Knows what they have in common, because there are thousands of them.
private struct PixelColors {
    private let samples: UnsafePointer<UInt8>
    private let stride: Int
    /// Planes of chroma; `nil` in a packed picture.
    private let chroma: (blue: UnsafePointer<UInt8>, red: UnsafePointer<UInt8>, stride: Int)?
    private let channels: Int
    private let hasAlpha: Bool
    /// From one colour of a packed pixel to the next.
    private let step: Int

    init(_ picture: borrowing PixelBuffer) {
        let layout = picture.layout
        samples = picture.withPlane(0) { $0 }
        stride = picture.stride(of: 0)
        chroma =
            layout.isPlanar
            ? (picture.withPlane(1) { $0 }, picture.withPlane(2) { $0 }, picture.stride(of: 1)) : nil
        channels = layout.planes[0].channels
        hasAlpha = layout.hasAlpha
        step = layout.model == .gray ? 0 : 1
    }

    /// The pixels of one row.
    struct Line {
        fileprivate let samples: UnsafePointer<UInt8>
        fileprivate let chroma: (blue: UnsafePointer<UInt8>, red: UnsafePointer<UInt8>)?
        fileprivate let channels: Int
        fileprivate let hasAlpha: Bool
        fileprivate let step: Int

        /// One pixel, with colours multiplied by alpha.
        @inline(__always)
        func color(_ x: Thumbnail.Place) -> SIMD4<Float> {
            if let chroma {
                let luma = Float(samples[x.luma])
                let (blue, red) = (Float(chroma.blue[x.chroma]) - 128, Float(chroma.red[x.chroma]) - 128)
                // ITU-T T.871
                var color = SIMD4(luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue, 255) / 255
                color.replace(with: 0, where: color .< 0)
                color.replace(with: 1, where: color .> 1)
                return color
            }
            let pixel = samples + x.luma * channels
            let alpha = hasAlpha ? Float(pixel[channels - 1]) / 255 : 1
            let color = SIMD3(Float(pixel[0]), Float(pixel[step]), Float(pixel[2 * step]))
            return SIMD4(color / 255 * alpha, alpha)
        }
    }

    @inline(__always)
    func line(_ y: Thumbnail.Place) -> Line {
        Line(
            samples: samples + y.luma * stride,
            chroma: chroma.map { ($0.blue + y.chroma * $0.stride, $0.red + y.chroma * $0.stride) }, channels: channels,
            hasAlpha: hasAlpha, step: step)
    }
}

import OnesheetCore

/// Estimates which part of a picture attracts attention. A crop keeps that part.
///
/// Each pixel of a small version of the picture is scored for three things that attract the eye: detail (the difference between its
/// brightness and the average of its neighbours), colour (the distance from gray), and skin (the closeness to skin colour, if it is
/// neither dark nor glaring). The best window of a given shape has the highest sum. Among equals, and in an even picture, it is the
/// one closest to the centre. The measures are those of the attention crops of libvips and Sony; the weights are our own.
struct Attention {
    private let width: Int
    private let height: Int
    /// The sums of all pixels above and to the left: `(width + 1) × (height + 1)`.
    private let sums: [Double]

    /// The longer side of the analysed picture: enough to distinguish a face from a wall.
    static let side = 96

    private enum Weight {
        static let detail = 1.0
        static let color = 0.4
        static let skin = 1.8
        /// Suppresses noise in even areas.
        static let middle = 0.02
    }

    /// - Parameter picture: packed RGB, small.
    init(_ picture: borrowing PixelBuffer) {
        let (width, height) = (picture.layout.width, picture.layout.height)
        let pixels = Self.pixels(picture)
        let luma = pixels.map { $0.x * 0.299 + $0.y * 0.587 + $0.z * 0.114 }
        var sums = [Double](repeating: 0, count: (width + 1) * (height + 1))
        for y in 0..<height {
            var row = 0.0
            for x in 0..<width {
                func neighbour(_ dx: Int, _ dy: Int) -> Double {
                    luma[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)]
                }
                let around = (neighbour(-1, 0) + neighbour(1, 0) + neighbour(0, -1) + neighbour(0, 1)) / 4
                let index = y * width + x
                row +=
                    Weight.detail * abs(luma[index] - around) * 4 + Weight.color * Self.saturation(pixels[index]) * luma[index]
                    + Weight.skin * Self.skin(pixels[index])
                sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row
            }
        }
        self.width = width
        self.height = height
        self.sums = sums
    }

    /// The centre of the best window, as fractions of the picture's sides.
    /// - Parameters: the size of the window, as fractions of the picture's width and height.
    func focus(width share: Double, height heightShare: Double) -> Gravity {
        let size = (
            width: min(max(Int((share * Double(width)).rounded()), 1), width),
            height: min(max(Int((heightShare * Double(height)).rounded()), 1), height)
        )
        let total = max(sums[sums.count - 1], 1e-9)
        var best = (points: -Double.infinity, x: 0, y: 0)
        for y in 0...(height - size.height) {
            for x in 0...(width - size.width) {
                let right = Double(2 * x + size.width - width) / Double(width)
                let down = Double(2 * y + size.height - height) / Double(height)
                let points =
                    (sum(x, y) + sum(x + size.width, y + size.height) - sum(x + size.width, y) - sum(x, y + size.height)) / total
                    - Weight.middle * (right * right + down * down)
                if points > best.points + 1e-12 { best = (points, x, y) }
            }
        }
        return .focus(
            x: (Double(best.x) + Double(size.width) / 2) / Double(width),
            y: (Double(best.y) + Double(size.height) / 2) / Double(height))
    }

    private func sum(_ x: Int, _ y: Int) -> Double { sums[y * (width + 1) + x] }

    /// Colours from 0 to 1, row by row.
    private static func pixels(_ picture: borrowing PixelBuffer) -> [SIMD3<Double>] {
        let channels = picture.layout.planes[0].channels
        var pixels: [SIMD3<Double>] = []
        for y in 0..<picture.layout.height {
            picture.withRow(y) { row in
                for x in 0..<picture.layout.width {
                    let place = x * channels
                    // Transparent pixels attract no attention.
                    let alpha = channels == 4 ? Double(row[place + 3]) / 255 : 1
                    let color = SIMD3(Double(row[place]), Double(row[place + 1]), Double(row[place + 2]))
                    pixels.append(color / 255 * alpha)
                }
            }
        }
        return pixels
    }

    private static func saturation(_ color: SIMD3<Double>) -> Double {
        let most = color.max()
        return most > 0.05 ? (most - color.min()) / most : 0
    }

    /// From 0 to 1: the similarity of the colour's direction to that of skin, regardless of its brightness.
    private static func skin(_ color: SIMD3<Double>) -> Double {
        let length = (color * color).sum().squareRoot()
        guard length > 0.25, length < 1.6 else { return 0 }
        let distance = color / length - SIMD3(0.78, 0.57, 0.44)
        return max(1 - (distance * distance).sum().squareRoot() / 0.2, 0)
    }
}

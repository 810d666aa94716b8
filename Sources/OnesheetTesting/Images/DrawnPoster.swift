internal import NIOCore
public import OnesheetCore

/// A drawn picture that resembles a photographic poster for codecs: soft gradients, shapes with hard and soft edges, thin lines,
/// and noise at several scales. Equal values draw equal pixels on every machine.
public struct DrawnPoster: Sendable {
    public var width: Int
    public var height: Int
    /// Distinguishes posters.
    public var seed: UInt32
    /// The amount of grain, in levels of 255.
    public var grain: Double

    public init(width: Int, height: Int, seed: UInt32 = 1, grain: Double = 10) {
        self.width = width
        self.height = height
        self.seed = seed
        self.grain = grain
    }

    /// Draws the poster: gray, RGB or inks, with or without alpha, or in planes of the given subsampling.
    /// - Throws: `CodecError.tooManyPixels` beyond `limits`.
    public func draw(
        _ model: ColorModel = .rgb, hasAlpha: Bool = false, planes subsampling: (x: Int, y: Int)? = nil, limits: Limits = Limits()
    ) throws(CodecError) -> PixelBuffer {
        let layout =
            subsampling.map { PixelLayout(width: width, height: height, planarWithSubsampling: $0.x, $0.y) }
            ?? PixelLayout(width: width, height: height, model: model, hasAlpha: hasAlpha)
        var picture = try PixelBuffer(layout, limits: limits)
        for (index, plane) in layout.planes.enumerated() {
            let (stepX, stepY) = index > 0 ? layout.subsampling : (1, 1)
            for y in 0..<plane.height {
                picture.withMutableRow(y, plane: index) { row in
                    for x in 0..<plane.width {
                        // The centre of the pixels that a chroma sample covers.
                        let color = color((Double(x) + 0.5) * Double(stepX), (Double(y) + 0.5) * Double(stepY))
                        if layout.isPlanar {
                            row[x] = Self.level(color.ycbcr[index])
                            continue
                        }
                        let place = x * plane.channels
                        for (channel, value) in color.samples(model).enumerated() { row[place + channel] = Self.level(value) }
                        if hasAlpha { row[place + plane.channels - 1] = Self.level(alpha(Double(x), Double(y))) }
                    }
                }
            }
        }
        return picture
    }

    /// Draws the poster and encodes it.
    public func file(
        _ codec: any Codec, _ model: ColorModel = .rgb, hasAlpha: Bool = false, planes: (x: Int, y: Int)? = nil,
        options: EncodeOptions = EncodeOptions(quality: 90)
    ) throws(CodecError) -> [UInt8] {
        let body = try codec.encode(try draw(model, hasAlpha: hasAlpha, planes: planes), options)
        return Array(body.readableBytesView)
    }

    private static func level(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }

    /// Opaque in the middle, transparent in the corners, with a soft edge.
    private func alpha(_ x: Double, _ y: Double) -> Double {
        let (u, v) = (2 * x / Double(width) - 1, 2 * y / Double(height) - 1)
        return (1.3 - (u * u + v * v)) * 400
    }

    /// Red, green and blue from 0 to 255, and beyond.
    struct Scene {
        var color: SIMD3<Double>

        var ycbcr: [Double] {
            let y = 0.299 * color.x + 0.587 * color.y + 0.114 * color.z
            return [y, (color.z - y) / 1.772 + 128, (color.x - y) / 1.402 + 128]
        }

        func samples(_ model: ColorModel) -> [Double] {
            switch model {
            case .gray: [ycbcr[0]]
            case .rgb, .ycbcr: [color.x, color.y, color.z]
            case .cmyk:
                // A quarter of the common darkness is black ink.
                inks
            }
        }

        private var inks: [Double] {
            let black = (255 - max(color.x, color.y, color.z)) / 4
            let light = max(255 - black, 1)
            return [color.x, color.y, color.z].map { 255 - $0 * 255 / light } + [black]
        }
    }

    /// The colour at a point, in pixels from the upper left corner.
    func color(_ x: Double, _ y: Double) -> Scene {
        let (u, v) = (x / Double(width), y / Double(height))
        // A sky from deep blue to orange.
        var color = mix(SIMD3(18, 30, 70), to: SIMD3(225, 130, 60), by: v * v)
        // A sun with a soft edge and a face-coloured disc with a hard one.
        color = mix(color, to: SIMD3(255, 230, 170), by: 1 - smooth(from: 0.10, to: 0.16, distance(u: u, v: v, x: 0.7, y: 0.25)))
        if distance(u: u, v: v, x: 0.38, y: 0.52) < 0.22 {
            color = mix(SIMD3(214, 160, 128), to: SIMD3(120, 70, 60), by: u + v - 0.5)
        }
        // Hills with a coarse texture.
        let ridge = 0.72 + 0.06 * noise(x: x / Double(width) * 6, y: 0, layer: 1) + 0.02 * noise(x: u * 30, y: 0, layer: 2)
        if v > ridge { color = mix(SIMD3(30, 60, 38), to: SIMD3(12, 18, 16), by: (v - ridge) * 3) }
        // A title: stripes like letters, and thin lines like the credits below it.
        if v > 0.84, v < 0.90, u > 0.12, u < 0.88, Int(u * 36) % 3 != 0 { color = SIMD3(240, 236, 220) }
        if v > 0.92, v < 0.97, u > 0.2, u < 0.8, Int(v * 600) % 6 == 0, Int(u * 300) % 4 != 0 { color = SIMD3(190, 186, 180) }
        // Texture at three scales, and grain.
        let texture =
            14 * noise(x: u * 22, y: v * 33, layer: 3) + 9 * noise(x: u * 90, y: v * 135, layer: 4) + 6
            * noise(x: u * 260, y: v * 390, layer: 5)
        let fine = grain * (hash(x: Int32(x), y: Int32(y), layer: 6) - 0.5) * 2
        return Scene(color: color + SIMD3(repeating: texture + fine))
    }

    private func mix(_ from: SIMD3<Double>, to: SIMD3<Double>, by share: Double) -> SIMD3<Double> {
        from + (to - from) * min(max(share, 0), 1)
    }

    private func smooth(from: Double, to: Double, _ value: Double) -> Double {
        let share = min(max((value - from) / (to - from), 0), 1)
        return share * share * (3 - 2 * share)
    }

    private func distance(u: Double, v: Double, x: Double, y: Double) -> Double {
        let (right, down) = (u - x, (v - y) * Double(height) / Double(width))
        return (right * right + down * down).squareRoot()
    }

    /// Value noise from -1 to 1: random numbers on a grid, interpolated smoothly.
    private func noise(x: Double, y: Double, layer: UInt32) -> Double {
        let (column, row) = (x.rounded(.down), y.rounded(.down))
        let (right, down) = (smooth(from: 0, to: 1, x - column), smooth(from: 0, to: 1, y - row))
        func corner(_ dx: Int32, _ dy: Int32) -> Double { hash(x: Int32(column) + dx, y: Int32(row) + dy, layer: layer) }
        let upper = corner(0, 0) * (1 - right) + corner(1, 0) * right
        let lower = corner(0, 1) * (1 - right) + corner(1, 1) * right
        return 2 * (upper * (1 - down) + lower * down) - 1
    }

    /// A pseudorandom number from 0 to 1 for a point.
    private func hash(x: Int32, y: Int32, layer: UInt32) -> Double {
        var value =
            UInt32(bitPattern: x) &* 0x9E37_79B1 ^ UInt32(bitPattern: y) &* 0x85EB_CA77 ^ (layer &+ seed &* 16) &* 0xC2B2_AE3D
        value = (value ^ value >> 15) &* 0x2C1B_3C6D
        value = (value ^ value >> 12) &* 0x297A_2D39
        return Double(value ^ value >> 15) / Double(UInt32.max)
    }
}

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
        (self.width, self.height, self.seed, self.grain) = (width, height, seed, grain)
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
}

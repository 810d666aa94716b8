import OnesheetCore

/// The server's watermark: decoded once, and drawn on each variant that has one.
package struct WatermarkImage: Sendable {
    let size: Size
    /// Red, green, blue and alpha, row by row.
    package let pixels: [UInt8]
    /// 0 to 1, multiplied by the opacity of a variant.
    package let opacity: Double
    /// Equal for equal watermarks.
    package let digest: String

    /// The most pixels of a watermark. Renders hold it in memory.
    package static let mostPixels = 4_000_000

    /// - Parameter pixels: red, green, blue and alpha, row by row.
    package init(width: Int, height: Int, pixels: [UInt8], opacity: Double, digest: String) {
        size = Size(width: width, height: height)
        self.pixels = pixels
        self.opacity = opacity
        self.digest = digest
    }

    package var width: Int { size.width }
    package var height: Int { size.height }

    /// - Parameter picture: packed RGB, with alpha or without.
    init(_ picture: borrowing PixelBuffer, opacity: Double, digest: String) {
        let channels = picture.layout.planes[0].channels
        var pixels: [UInt8] = []
        pixels.reserveCapacity(picture.layout.width * picture.layout.height * 4)
        for y in 0..<picture.layout.height {
            picture.withRow(y) { row in
                for place in stride(from: 0, to: row.count, by: channels) {
                    for channel in 0..<3 { pixels.append(row[place + channel]) }
                    pixels.append(channels == 4 ? row[place + 3] : 255)
                }
            }
        }
        size = Size(width: picture.layout.width, height: picture.layout.height)
        self.pixels = pixels
        self.opacity = opacity
        self.digest = digest
    }

    /// The size of the watermark on a picture of size `picture`: its own, or the largest in its proportions within `scale` of the
    /// picture.
    static func size(_ own: Size, scale: Double, on picture: Size) -> Size {
        guard scale > 0 else { return own }
        func box(_ side: Int) -> Double { max((Double(side) * scale).rounded(.toNearestOrEven), 1) }
        let factor = min(box(picture.width) / Double(own.width), box(picture.height) / Double(own.height))
        func side(_ side: Int) -> Int { Int(max((Double(side) * factor).rounded(.toNearestOrEven), 1)) }
        return Size(width: side(own.width), height: side(own.height))
    }

    /// The pixels in memory, scaled for a picture of size `picture`.
    func scaled(
        _ scale: Double, on picture: Size, tables: FilterTableCache, by deadline: Deadline
    ) throws(CodecError) -> PixelBuffer {
        let target = Self.size(size, scale: scale, on: picture)
        let limits = Limits(pixels: max(size.width * size.height, target.width * target.height))
        var own = try PixelBuffer(
            PixelLayout(width: size.width, height: size.height, model: .rgb, hasAlpha: true), limits: limits)
        let rowBytes = size.width * 4
        for y in 0..<size.height {
            own.withMutableRow(y) { row in for place in 0..<rowBytes { row[place] = pixels[y * rowBytes + place] } }
        }
        guard target != size else { return own }
        return try own.resampled(to: target, tables: tables, limits: limits, by: deadline) { _, _ in nil }
    }

    /// The most bytes for drawing a watermark of size `own` on a picture of size `picture`.
    static func bytes(_ own: Size, scale: Double, on picture: Size) -> Int {
        func bytes(_ size: Size) -> Int {
            PixelBuffer.bytes(for: PixelLayout(width: size.width, height: size.height, model: .rgb, hasAlpha: true))
        }
        let target = size(own, scale: scale, on: picture)
        guard target != own else { return bytes(own) }
        return bytes(own) + bytes(target)
            + PlaneResampler.bytes(
                width: own.width, outputs: target, horizontal: Double(own.width) / Double(target.width),
                vertical: Double(own.height) / Double(target.height), channels: 4)
    }
}

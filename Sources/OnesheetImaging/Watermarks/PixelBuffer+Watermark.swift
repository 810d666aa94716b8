import OnesheetCore

extension PixelBuffer {
    /// Draws `mark`, packed RGB with alpha, as `watermark` asks. This picture is packed RGB, with alpha or without.
    /// - Parameter opacity: 0 to 1.
    mutating func draw(
        _ mark: borrowing PixelBuffer, as watermark: Transform.Watermark, opacity: Double, by deadline: Deadline
    ) throws(CodecError) {
        let picture = Size(width: layout.width, height: layout.height)
        let tile = Tile(Size(width: mark.layout.width, height: mark.layout.height), watermark, on: picture)
        let (stride, markStride, channels) = (stride(of: 0), mark.stride(of: 0), layout.planes[0].channels)
        let hasAlpha = layout.hasAlpha
        let strength = Int((min(max(opacity, 0), 1) * 256).rounded())
        var watch = DeadlineWatch(deadline)
        try mark.withPlane(0) { mark throws(CodecError) in
            try withMutablePlane(0) { pixels throws(CodecError) in
                for y in 0..<picture.height {
                    guard let line = tile.y[y] else { continue }
                    try watch.row(samples: picture.width * channels)
                    let (row, from) = (pixels + y * stride, mark + line * markStride)
                    for x in 0..<picture.width {
                        guard let column = tile.x[x] else { continue }
                        let (pixel, color) = (row + x * channels, from + column * 4)
                        // In units of 1/65280, which is 255 × 256.
                        let above = Int(color[3]) * strength
                        let below = 65_280 - above
                        guard hasAlpha else {
                            for channel in 0..<3 {
                                pixel[channel] = UInt8(
                                    (Int(color[channel]) * above + Int(pixel[channel]) * below + 32_640) / 65_280)
                            }
                            continue
                        }
                        // The `over` operator for alpha that is not premultiplied.
                        let rest = Int(pixel[3]) * below
                        let sum = above * 255 + rest
                        guard sum > 0 else { continue }
                        for channel in 0..<3 {
                            let weighted = Int(color[channel]) * above * 255 + Int(pixel[channel]) * rest
                            pixel[channel] = UInt8((weighted + sum / 2) / sum)
                        }
                        pixel[3] = UInt8((sum + 32_640) / 65_280)
                    }
                }
            }
        }
    }
}

/// The column and the row of a watermark for each column and row of a picture; `nil` for none.
private struct Tile {
    let x: [Int?]
    let y: [Int?]

    init(_ mark: Size, _ watermark: Transform.Watermark, on picture: Size) {
        switch watermark.position {
        case .compass(let side, let upper):
            x = Self.once(mark.width, in: picture.width, side: side, offset: watermark.offsetX)
            y = Self.once(mark.height, in: picture.height, side: upper, offset: watermark.offsetY)
        case .repeated:
            x = Self.repeated(mark.width, in: picture.width, space: watermark.offsetX)
            y = Self.repeated(mark.height, in: picture.height, space: watermark.offsetY)
        }
    }

    /// Whole pixels; an offset below 1 is a fraction of `length`.
    private static func pixels(_ offset: Double, of length: Int) -> Int {
        guard offset.isFinite else { return 0 }
        let pixels = (abs(offset) < 1 ? offset * Double(length) : offset).rounded(.toNearestOrEven)
        return Int(min(max(pixels, -1e6), 1e6))
    }

    /// One watermark, of which at least a pixel is in the picture. The rounding is imgproxy's.
    private static func once(_ mark: Int, in length: Int, side: Int, offset: Double) -> [Int?] {
        let moved = pixels(offset, of: length)
        let middle = Int((Double(length - mark + 1) / 2).rounded(.toNearestOrEven))
        let start = side < 0 ? moved : side > 0 ? length - mark - moved : middle + moved
        let first = min(max(start, 1 - mark), length - 1)
        return (0..<length).map { (first..<(first + mark)).contains($0) ? $0 - first : nil }
    }

    /// Watermarks side by side, one of them in the middle, with `space` between them.
    private static func repeated(_ mark: Int, in length: Int, space: Double) -> [Int?] {
        let space = max(pixels(space, of: length), 0)
        let period = mark + space
        // The space before a watermark is the smaller half.
        let first = (length - period) / 2 + space / 2
        return (0..<length).map { place in
            let within = ((place - first) % period + period) % period
            return within < mark ? within : nil
        }
    }
}

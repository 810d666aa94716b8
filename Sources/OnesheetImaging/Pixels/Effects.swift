import OnesheetCore

extension PixelBuffer {
    /// Replaces a packed picture with squares of one colour, the mean of their pixels. Squares at the right and lower edges may be
    /// narrower. Transparent pixels do not contribute to the colour.
    /// - Parameter side: the side of a square in pixels.
    mutating func pixelate(_ side: Int, by deadline: Deadline) throws(CodecError) {
        precondition(!layout.isPlanar && side > 0, "packed pixels, and squares")
        let (width, height, channels) = (layout.width, layout.height, layout.planes[0].channels)
        let colors = layout.hasAlpha ? channels - 1 : channels
        let hasAlpha = layout.hasAlpha
        let (stride, side) = (stride(of: 0), min(side, max(width, height)))
        var watch = DeadlineWatch(deadline)
        try withMutablePlane(0) { pixels throws(CodecError) in
            var y = 0
            while y < height {
                let rows = y..<min(height, y + side)
                var x = 0
                while x < width {
                    let columns = x..<min(width, x + side)
                    var sums = SIMD4<Int>.zero
                    var weight = 0
                    for row in rows {
                        let line = pixels + row * stride
                        for column in columns {
                            let pixel = line + column * channels
                            let alpha = hasAlpha ? Int(pixel[colors]) : 1
                            weight += alpha
                            for channel in 0..<colors { sums[channel] += Int(pixel[channel]) * alpha }
                        }
                    }
                    let count = rows.count * columns.count
                    for row in rows {
                        let line = pixels + row * stride
                        for column in columns {
                            let pixel = line + column * channels
                            for channel in 0..<colors where weight > 0 {
                                pixel[channel] = UInt8((sums[channel] + weight / 2) / weight)
                            }
                            if hasAlpha { pixel[colors] = UInt8((weight + count / 2) / count) }
                        }
                    }
                    x = columns.upperBound
                }
                for _ in rows { try watch.row(samples: width * channels) }
                y = rows.upperBound
            }
        }
    }

    /// The picture in RGB or gray with pixels of black and white alone, by their luminance (ITU-R BT.601). Keeps alpha.
    borrowing func inBlackAndWhite(limits: Limits, by deadline: Deadline) throws(CodecError) -> PixelBuffer {
        let isGray = layout.model == .gray
        let (width, channels) = (layout.width, layout.planes[0].channels)
        let colors = layout.hasAlpha ? channels - 1 : channels
        return try mapped(to: layout, limits: limits, by: deadline) { from, to in
            for x in 0..<width {
                let (pixel, place) = (from + x * channels, to + x * channels)
                let luminance = isGray ? Int(pixel[0]) : (77 * Int(pixel[0]) + 150 * Int(pixel[1]) + 29 * Int(pixel[2]) + 128) >> 8
                for channel in 0..<colors { place[channel] = luminance < 128 ? 0 : 255 }
                if colors < channels { place[colors] = pixel[colors] }
            }
        }
    }

    /// Removes the colours and keeps the luminance (ITU-R BT.601).
    mutating func keepLuminance(by deadline: Deadline) throws(CodecError) {
        var watch = DeadlineWatch(deadline)
        if layout.isPlanar {
            for index in 1..<layout.planes.count {
                let (plane, stride) = (layout.planes[index], stride(of: index))
                try withMutablePlane(index) { chroma throws(CodecError) in
                    for y in 0..<plane.height {
                        (chroma + y * stride).update(repeating: 128, count: plane.width)
                        try watch.row(samples: plane.width)
                    }
                }
            }
            return
        }
        guard layout.model == .rgb else { return }
        let (width, height, channels, stride) = (layout.width, layout.height, layout.planes[0].channels, stride(of: 0))
        try withMutablePlane(0) { pixels throws(CodecError) in
            for y in 0..<height {
                let line = pixels + y * stride
                for x in 0..<width {
                    let pixel = line + x * channels
                    let luminance = (77 * Int(pixel[0]) + 150 * Int(pixel[1]) + 29 * Int(pixel[2]) + 128) >> 8
                    for channel in 0..<3 { pixel[channel] = UInt8(luminance) }
                }
                try watch.row(samples: width * channels)
            }
        }
    }
}

package import NIOCore
package import OnesheetCore

/// What a render will take, told from the original's header before anything is decoded.
package struct RenderCost: Sendable, Equatable {
    /// On a machine of middling speed; who measures renders knows how much faster this one is.
    package var milliseconds: Double
    /// Bytes of pixels at the same time.
    package var bytes: Int

    package init(milliseconds: Double, bytes: Int) { (self.milliseconds, self.bytes) = (milliseconds, bytes) }

    /// Nanoseconds that a pixel takes to decode and to encode, by format.
    private static let speeds: [ImageFormat: (decode: Double, encode: Double)] = [
        .jpeg: (5, 10), .png: (12, 40), .webp: (15, 80), .avif: (40, 400),
    ]
    private static let unknown = (decode: 40.0, encode: 100.0)
    /// Rows of a picture that are there at once while it is decoded row by row.
    private static let rows = 64

    init(_ header: ImageHeader, _ outputs: [(size: Size, format: ImageFormat)]) {
        let pixels = header.width * header.height
        let channels = header.model.channels + (header.hasAlpha ? 1 : 0)
        let streams = !header.isProgressive && (header.format == .jpeg || header.format == .png)
        // A progressive JPEG holds coefficients of two bytes.
        let held = streams ? header.width * min(header.height, Self.rows) : pixels * (header.format == .jpeg ? 2 : 1)
        var nanoseconds = Double(pixels) * (Self.speeds[header.format] ?? Self.unknown).decode * (header.isProgressive ? 3 : 1)
        var bytes = held * channels
        for (size, format) in outputs {
            nanoseconds += Double(size.width * size.height) * (Self.speeds[format] ?? Self.unknown).encode
            // The picture, and a copy while it is turned, converted or flattened.
            bytes += size.width * size.height * 4 * 2
        }
        self.init(milliseconds: nanoseconds / 1e6, bytes: bytes)
    }
}

extension Renderer {
    /// What rendering `original` will take.
    /// - Throws: `RenderError` where it cannot be rendered so, as far as its header says.
    package func cost(_ original: ByteBuffer, as transforms: [Transform]) throws(RenderError) -> RenderCost {
        let header = try header(of: original)
        var outputs: [(size: Size, format: ImageFormat)] = []
        for transform in transforms {
            let plan = Plan(transform, width: header.width, height: header.height, orientation: header.orientation)
            for size in [plan.size, plan.finalSize] {
                let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
                guard !overflow, pixels <= limits.outputPixels else {
                    throw .tooManyOutputPixels(width: size.width, height: size.height, limit: limits.outputPixels)
                }
            }
            outputs.append((plan.finalSize, transform.format ?? header.format))
        }
        return RenderCost(header, outputs)
    }
}

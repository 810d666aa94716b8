import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetServer
import PNGCodec

/// Decodes responses of servers, and encodes responses of origins, with the real codecs.
enum Picture {
    /// Format and size of an encoded picture.
    static func header(_ body: ByteBuffer) throws -> ImageHeader {
        try Renderer(codecs: codecs, limits: Limits()).header(of: body)
    }

    /// A JPEG with a colour gradient.
    static func jpeg(width: Int = 300, height: Int = 450) throws -> ByteBuffer {
        var pixels = try PixelBuffer(PixelLayout(width: width, height: height, model: .rgb), limits: Limits())
        for y in 0..<height {
            pixels.withMutableRow(y) { row in
                for x in 0..<width * 3 { row[x] = UInt8((x * 7 + y * 3) & 0xFF) }
            }
        }
        return try JPEGCodec().encode(pixels, EncodeOptions())
    }

    private static let codecs: [any Codec] = [JPEGCodec(), PNGCodec()]
}

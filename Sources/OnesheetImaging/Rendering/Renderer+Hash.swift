package import NIOCore
import OnesheetCore

extension Renderer {
    /// What the picture looks like. It is decoded as small as its codec can.
    /// - Throws: `RenderError`, `.timedOut` after `deadline`.
    package func hash(of original: ByteBuffer) throws(RenderError) -> PictureHash {
        let end = end()
        let bytes = original.readableBytesUInt8Span
        let codec = try codec(for: bytes)
        let header = try header(of: bytes, codec)
        let job = try Job(Self.hashing(header), of: header, codecs: codecs, conversions: conversions, limits: limits)
        do throws(CodecError) {
            return PictureHash(try Rendering([job], header, self, by: end).picture(bytes, codec))
        } catch {
            throw failure(error, in: codec.format)
        }
    }

    /// How a picture is looked at. Nothing is encoded; the format is the one that surely has a codec, and full quality keeps colour at
    /// full resolution.
    static func hashing(_ header: ImageHeader) -> Transform {
        var small = Transform()
        (small.resizing, small.width, small.height, small.enlarges) = (.force, 9, 8, true)
        (small.format, small.quality) = (header.format, 100)
        return small
    }
}

extension PictureHash {
    /// - Parameter picture: 9 × 8 pixels in packed RGB, with or without alpha.
    init(_ picture: borrowing PixelBuffer) {
        let channels = picture.layout.planes[0].channels
        var bits: UInt64 = 0
        for y in 0..<8 {
            picture.withRow(y) { row in
                // Rec. 601, in thousandths.
                func luma(_ x: Int) -> Int {
                    299 * Int(row[x * channels]) + 587 * Int(row[x * channels + 1]) + 114 * Int(row[x * channels + 2])
                }
                for x in 0..<8 { bits = bits << 1 | (luma(x) < luma(x + 1) ? 1 : 0) }
            }
        }
        self.init(bits: bits)
    }
}

import AVIFCodec
import GIFCodec
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import PNGCodec
import WebPCodec

/// The first sixteen bytes are a transform, the others an original. The result is a variant or a typed error. Beside another variant it has
/// the same bytes.
enum FuzzRender {
    private static let renderer = Renderer(
        codecs: [JPEGCodec(), PNGCodec(), WebPCodec(), AVIFCodec()], decoders: [GIFCodec()],
        limits: Limits(pixels: 60_000, outputPixels: 60_000, scans: 20))

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        guard bytes.count > 16 else { return 0 }
        do throws(RenderError) {
            let original = ByteBuffer(bytes: bytes[16...])
            let transform = transform(bytes)
            let alone = try renderer.render(original, as: transform)
            guard bytes[15] & 1 == 0 else { return 0 }
            var smaller = transform
            (smaller.width, smaller.height, smaller.crop) = (transform.width / 3, transform.height / 3, nil)
            let together = try renderer.render(original, as: [smaller, transform])
            precondition(together[1].body == alone.body, "a variant depends on another")
        } catch {}
        return 0
    }

    private static func transform(_ bytes: UnsafeBufferPointer<UInt8>) -> Transform {
        let gravities: [Gravity] = [.center, .smart, .focus(x: 0.2, y: 1), .compass(x: 1, y: -1)]
        var transform = Transform()
        transform.resizing = Transform.Resizing.allCases[Int(bytes[0]) % Transform.Resizing.allCases.count]
        (transform.width, transform.height) = (Int(bytes[1]), Int(bytes[2]))
        (transform.minWidth, transform.minHeight) = (Int(bytes[3]) / 4, Int(bytes[4]) / 4)
        transform.enlarges = bytes[5] & 1 == 1
        transform.extends = bytes[5] & 2 == 2 ? gravities[Int(bytes[6]) % 4] : nil
        transform.gravity = gravities[Int(bytes[6] >> 2) % 4]
        if bytes[7] > 0 { transform.crop = .init(width: Double(bytes[7]) / 8, height: Double(bytes[8]) / 16) }
        transform.rotation = Int(bytes[9]) % 4 * 90
        transform.flipsHorizontally = bytes[9] & 8 == 8
        transform.flipsVertically = bytes[9] & 16 == 16
        if bytes[10] & 7 == 7 { transform.padding = .init(top: Int(bytes[10]), right: 1, bottom: 0, left: 2) }
        transform.background = bytes[11] & 1 == 1 ? .white : nil
        transform.blur = bytes[12] & 3 == 3 ? Double(bytes[12]) / 10 : 0
        transform.sharpen = bytes[13] & 3 == 3 ? Double(bytes[13]) / 100 : 0
        transform.format = bytes[14] & 1 == 1 ? .png : bytes[14] & 2 == 2 ? .jpeg : nil
        transform.quality = Int(bytes[15]) % 100 + 1
        return transform
    }
}

import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

/// Chroma planes of half the size: chroma must not move relative to luma.
final class ChromaTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    /// Red and blue of equal brightness, with an edge at two fifths of each side, in planes.
    private func original(_ width: Int, _ height: Int) throws -> ByteBuffer {
        var picture = try PixelBuffer(PixelLayout(width: width, height: height, planarWithSubsampling: 1, 1), limits: Limits())
        for plane in 0..<3 {
            for y in 0..<height {
                picture.withMutableRow(y, plane: plane) { row in
                    for x in 0..<width {
                        let isRed = x * 5 < width * 2 && y * 5 < height * 2
                        row[x] = plane == 0 ? 120 : (plane == 1) == isRed ? 60 : 200
                    }
                }
            }
        }
        return try JPEGCodec().encode(picture, EncodeOptions(quality: 98))
    }

    private func render(_ original: ByteBuffer, _ change: (inout Transform) -> Void) throws -> PixelBuffer {
        var transform = Transform()
        transform.quality = 89
        change(&transform)
        let image = try renderer.render(original, as: transform)
        return try JPEGCodec().picture(Array(image.body.readableBytesView))
    }

    func testThatMirroringDoesNotMoveColor() throws {
        // Given sides that are odd before and after
        let original = try original(203, 151)
        // When
        let straight = try render(original) { $0.width = 81 }
        let mirrored = try render(original) {
            $0.width = 81
            ($0.flipsHorizontally, $0.flipsVertically) = (true, true)
        }
        // Then
        let back = try mirrored.mirroredForTest()
        assertImagesSimilar(back, straight, within: 6)
    }

    func testThatTurningDoesNotMoveColor() throws {
        // Given
        let original = try original(203, 151)
        // When
        let half = try render(original) {
            $0.width = 81
            $0.rotation = 180
        }
        let straight = try render(original) { $0.width = 81 }
        // Then
        assertImagesSimilar(try half.mirroredForTest(), straight, within: 6)
    }

    func testThatColorStaysWhereItIsInEverySubsampling() throws {
        // Given the same picture with full chroma resolution as PNG
        let original = try original(203, 151)
        var transform = Transform()
        (transform.width, transform.format) = (81, .png)
        let sharp = try PNGCodec().picture(Array(try renderer.render(original, as: transform).body.readableBytesView))
        // When
        let soft = try render(original) { $0.width = 81 }
        // Then the edge is softer and at its place
        assertImagesSimilar(soft, sharp, within: 14)
    }
}

extension PixelBuffer {
    /// Rotated by 180 degrees.
    fileprivate borrowing func mirroredForTest() throws -> PixelBuffer {
        var outcome = try PixelBuffer(layout, limits: Limits())
        for y in 0..<layout.height {
            withRow(layout.height - 1 - y) { from in
                outcome.withMutableRow(y) { to in
                    for x in 0..<layout.width {
                        for channel in 0..<3 { to[x * 3 + channel] = from[(layout.width - 1 - x) * 3 + channel] }
                    }
                }
            }
        }
        return outcome
    }
}

import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

/// Lossless variants of JPEG originals against a floating-point Lanczos of the full decode: the combined loss of scaled decoding,
/// resampling in planes and making sizes from one another.
final class QualityTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    private func luma(_ picture: borrowing PixelBuffer) -> [Double] {
        let channels = picture.layout.planes[0].channels
        return (0..<picture.layout.height).flatMap { y in
            picture.withRow(y) { row in
                (0..<picture.layout.width).map { x in
                    guard channels >= 3 else { return Double(row[x * channels]) }
                    let pixel = (0..<3).map { Double(row[x * channels + $0]) }
                    return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]
                }
            }
        }
    }

    private func assertFaithful(
        _ widths: [Int], planes: (x: Int, y: Int), size: (Int, Int), line: UInt = #line
    ) throws {
        // Given
        let file = try DrawnPoster(width: size.0, height: size.1).file(JPEGCodec(), planes: planes)
        let full = try JPEGCodec().picture(file, DecodeRequest(acceptsPlanar: true))
        var gray = try PixelBuffer(PixelLayout(width: size.0, height: size.1, model: .gray), limits: Limits())
        for y in 0..<size.1 {
            full.withRow(y) { from in
                gray.withMutableRow(y) { to in for x in 0..<size.0 { to[x] = from[x] } }
            }
        }
        for isLight in [false, true] {
            try assertFaithful(file, gray, widths, isLight: isLight, line: line)
        }
    }

    private func assertFaithful(
        _ file: [UInt8], _ gray: borrowing PixelBuffer, _ widths: [Int], isLight: Bool, line: UInt
    ) throws {
        var renderer = renderer
        renderer.resamplesInLinearLight = isLight
        // When
        let images = try renderer.render(
            ByteBuffer(bytes: file),
            as: widths.map {
                var transform = Transform()
                (transform.width, transform.format) = ($0, .png)
                return transform
            })
        // Then
        for image in images {
            let reference = ReferenceResampling(
                region: (0, 0, Double(gray.layout.width), Double(gray.layout.height)), width: image.width, height: image.height,
                isLight: isLight)
            let picture = try PNGCodec().picture(Array(image.body.readableBytesView))
            let similarity = structuralSimilarity(
                luma(picture), reference.resample(gray), width: image.width, height: image.height)
            // What a corner leaves out is known by its variance alone.
            XCTAssertGreaterThan(similarity, isLight ? 0.98 : 0.995, "w\(image.width), light: \(isLight)", line: line)
        }
    }

    func testThatHalfSizeDecodingIsFaithful() throws { try assertFaithful([45], planes: (2, 2), size: (225, 300)) }
    func testThatQuarterSizeDecodingIsFaithful() throws { try assertFaithful([25], planes: (2, 2), size: (225, 300)) }
    func testThatEighthSizeDecodingIsFaithful() throws { try assertFaithful([16], planes: (2, 2), size: (300, 400)) }
    func testThatOddSizesAreFaithful() throws { try assertFaithful([41], planes: (2, 2), size: (211, 283)) }
    func testThatOddSizesAtAnEighthAreFaithful() throws { try assertFaithful([15], planes: (2, 2), size: (303, 401)) }
    func testThatFullColorIsFaithful() throws { try assertFaithful([45], planes: (1, 1), size: (225, 300)) }
    func testThatALadderIsFaithful() throws { try assertFaithful([98, 63, 43, 23, 19, 12], planes: (2, 2), size: (250, 375)) }
}

import JPEGCodec
import OnesheetCore
import PNGCodec
import XCTest

@testable import OnesheetImaging

final class RenderCostTests: XCTestCase {
    private let small = [(size: Size(width: 60, height: 90), format: ImageFormat.jpeg)]

    private func cost(
        _ format: ImageFormat, _ width: Int, _ height: Int, model: ColorModel = .ycbcr, hasAlpha: Bool = false,
        isProgressive: Bool = false, as outputs: [(size: Size, format: ImageFormat)]
    ) -> RenderCost {
        RenderCost(
            ImageHeader(
                format: format, width: width, height: height, model: model, hasAlpha: hasAlpha, isProgressive: isProgressive),
            outputs)
    }

    func testThatWhatStreamsHoldsRowsAndNotThePicture() {
        for format in [ImageFormat.jpeg, .png] {
            // Given originals of one width, one ten times as high as the other
            let short = cost(format, 4000, 600, as: small)
            let long = cost(format, 4000, 6000, as: small)
            // Then both hold the same, and the higher one takes longer
            XCTAssertEqual(long.bytes, short.bytes, "\(format)")
            XCTAssertEqual(long.bytes, 4000 * 64 * 3 + 60 * 90 * 8, "\(format)")
            XCTAssertGreaterThan(long.milliseconds, 9 * short.milliseconds, "\(format)")
        }
    }

    func testThatWhatDoesNotStreamIsHeldWhole() {
        // A progressive JPEG as coefficients of two bytes, an interlaced PNG and other formats as samples.
        XCTAssertEqual(cost(.jpeg, 4000, 6000, isProgressive: true, as: []).bytes, 4000 * 6000 * 3 * 2)
        XCTAssertEqual(cost(.png, 4000, 6000, model: .rgb, isProgressive: true, as: []).bytes, 4000 * 6000 * 3)
        XCTAssertEqual(cost(.webp, 4000, 6000, model: .rgb, hasAlpha: true, as: []).bytes, 4000 * 6000 * 4)
        XCTAssertEqual(cost(.avif, 4000, 6000, model: .gray, as: []).bytes, 4000 * 6000)
    }

    func testThatAProgressiveOriginalTakesLonger() {
        XCTAssertEqual(
            cost(.jpeg, 4000, 6000, isProgressive: true, as: []).milliseconds, 3 * cost(.jpeg, 4000, 6000, as: []).milliseconds,
            accuracy: 1e-6)
    }

    func testThatAPictureWithFewRowsIsNotCountedAsMore() {
        XCTAssertEqual(cost(.jpeg, 100, 10, as: []).bytes, 100 * 10 * 3)
    }

    func testThatEachOutputCountsByItsPixelsAndFormat() {
        // Given an original of one pixel, so that only outputs count
        func output(_ width: Int, _ height: Int, _ format: ImageFormat) -> RenderCost {
            cost(.jpeg, 1, 1, as: [(Size(width: width, height: height), format)])
        }
        let nothing = cost(.jpeg, 1, 1, as: [])
        // Then four times the pixels are four times the cost, and two outputs cost what each costs
        XCTAssertEqual(output(600, 400, .jpeg).bytes - nothing.bytes, 600 * 400 * 8)
        XCTAssertEqual(
            output(1200, 800, .jpeg).milliseconds - nothing.milliseconds,
            4 * (output(600, 400, .jpeg).milliseconds - nothing.milliseconds), accuracy: 1e-6)
        let both = cost(
            .jpeg, 1, 1, as: [(Size(width: 600, height: 400), .jpeg), (Size(width: 600, height: 400), .png)])
        XCTAssertEqual(both.bytes - nothing.bytes, 2 * 600 * 400 * 8)
        XCTAssertEqual(
            both.milliseconds, output(600, 400, .jpeg).milliseconds + output(600, 400, .png).milliseconds - nothing.milliseconds,
            accuracy: 1e-6)
        // And formats that take longer to write count for more
        let formats = [ImageFormat.jpeg, .png, .webp, .avif].map { output(600, 400, $0).milliseconds }
        XCTAssertEqual(formats, formats.sorted())
        XCTAssertEqual(Set(formats).count, 4)
    }

    func testThatScaleOnLoadIsNotCountedOn() throws {
        // Given an original, a variant that is decoded at an eighth of each side, and one that is not
        let pixels = try PixelBuffer(PixelLayout(width: 800, height: 1200, model: .rgb), limits: Limits())
        let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        for codec in [JPEGCodec(), JPEGCodec(progressive)] {
            let original = try codec.encode(pixels, EncodeOptions())
            let header = try renderer.header(of: original)
            let sizes = [80, 800].map { Size(width: $0, height: $0 * 3 / 2) }
            let costs = try sizes.map { size in
                var transform = Transform()
                transform.width = size.width
                return try renderer.cost(original, as: [transform])
            }
            // Then they differ by what is written alone: all of an original's bytes are read at any scale
            XCTAssertEqual(costs, sizes.map { RenderCost(header, [($0, .jpeg)]) })
            XCTAssertEqual(costs[1].bytes - costs[0].bytes, (800 * 1200 - 80 * 120) * 8)
        }
    }

    func testThatTooManyOutputPixelsCostNothingButAreRefused() throws {
        var limits = Limits()
        limits.outputPixels = 10_000
        let pixels = try PixelBuffer(PixelLayout(width: 100, height: 150, model: .rgb), limits: limits)
        let original = try PNGCodec().encode(pixels, EncodeOptions())
        let renderer = Renderer(codecs: [PNGCodec()], limits: limits)
        var transform = Transform()
        transform.width = 80
        XCTAssertNoThrow(try renderer.cost(original, as: [transform]))
        transform.width = 100
        XCTAssertThrowsError(try renderer.cost(original, as: [transform])) {
            XCTAssertEqual($0 as? RenderError, .tooManyOutputPixels(width: 100, height: 150, limit: 10_000))
        }
    }
}

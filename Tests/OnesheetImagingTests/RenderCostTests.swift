import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetImaging

final class RenderCostTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    private func header(
        _ format: ImageFormat, _ width: Int, _ height: Int, model: ColorModel = .ycbcr, hasAlpha: Bool = false,
        isProgressive: Bool = false, scans: Int = 1, colors: ColorDescription = .sRGB
    ) -> ImageHeader {
        ImageHeader(
            format: format, width: width, height: height, model: model, hasAlpha: hasAlpha, colors: colors,
            isProgressive: isProgressive, scans: scans)
    }

    private func output(_ header: ImageHeader, _ format: ImageFormat = .jpeg, _ change: (inout Transform) -> Void)
        -> RenderCost.Output
    {
        var transform = Transform()
        change(&transform)
        return RenderCost.Output(
            plan: Plan(transform, width: header.width, height: header.height, orientation: .up), transform: transform,
            encoder: format == .jpeg ? JPEGCodec() : PNGCodec())
    }

    private func cost(_ header: ImageHeader, width: Int = 60, _ format: ImageFormat = .jpeg) -> RenderCost {
        let codec: any Codec = header.format == .jpeg ? JPEGCodec() : PNGCodec()
        return RenderCost(
            PictureOutline(header, count: 0), [output(header, format) { $0.width = width }], decoding: codec.memoryToDecode(header))
    }

    func testThatWhatStreamsHoldsRowsAndNotThePicture() {
        for (format, model) in [(ImageFormat.jpeg, ColorModel.ycbcr), (.png, .rgb)] {
            // Given originals of one width, one ten times as high as the other, and the same output
            let costs = [6000, 60_000].map { height in
                let header = header(format, 4000, height, model: model)
                let output = output(header) { ($0.width, $0.height, $0.resizing) = (60, 90, .force) }
                return RenderCost(PictureOutline(header, count: 0), [output], decoding: JPEGCodec().memoryToDecode(header))
            }
            // Then both need the same memory, and the higher one more time
            XCTAssertEqual(costs[1].bytes, costs[0].bytes, "\(format)")
            XCTAssertGreaterThan(costs[1].milliseconds, 9 * costs[0].milliseconds, "\(format)")
        }
    }

    func testThatAReducedResultCostsNoMoreThanOneOfItsSize() throws {
        // Given
        let header = header(.jpeg, 2000, 3000)
        func cost(_ change: (inout Transform) -> Void) -> RenderCost {
            RenderCost(PictureOutline(header, count: 0), [output(header) { change(&$0) }], decoding: 0)
        }

        // When
        let (reduced, small) = (cost { ($0.width, $0.maxResultSide) = (1500, 300) }, cost { $0.height = 300 })

        // Then
        XCTAssertEqual(reduced, small)
    }

    func testThatTheCostOfATrimmedPictureCoversEveryBorder() throws {
        // Given a picture without a border, and a limit that a trimmed one would reach less
        let original = try Self.jpeg(width: 400, height: 400)
        var transform = Transform()
        (transform.width, transform.height, transform.trim, transform.maxResultSide) = (1000, 500, .init(threshold: 1), 400)
        transform.enlarges = true
        var largest = Transform()
        (largest.width, largest.height, largest.resizing, largest.enlarges) = (400, 400, .force, true)

        // When
        let outline = try renderer.open(original).outline
        let (trimmed, whole) = try (renderer.cost(of: outline, as: [transform]), renderer.cost(of: outline, as: [largest]))

        // Then it is at least that of the largest result
        XCTAssertGreaterThanOrEqual(trimmed.bytes, whole.bytes)
        XCTAssertGreaterThanOrEqual(trimmed.milliseconds, whole.milliseconds)
    }

    private static func jpeg(width: Int, height: Int) throws -> ByteBuffer {
        let pixels = try PixelBuffer(PixelLayout(width: width, height: height, model: .rgb), limits: Limits())
        return try JPEGCodec().encode(pixels, EncodeOptions())
    }

    func testThatWhatDoesNotStreamIsHeldWhole() {
        // A progressive JPEG as coefficients of two bytes and a bit, and half a byte for each pixel of luma; an interlaced PNG as samples.
        let few = 8 << 20
        XCTAssertEqual(
            cost(header(.jpeg, 4000, 6000, isProgressive: true)).bytes, 4000 * 6000 * 3 * 17 / 8 + 4000 * 6000 / 2, accuracy: few)
        XCTAssertEqual(
            cost(header(.png, 4000, 6000, model: .rgb, isProgressive: true)).bytes, 4000 * 6000 * 3, accuracy: few)
        // Each row of a picture that is one pixel wide takes 64 bytes.
        XCTAssertGreaterThan(cost(header(.png, 1, 30_000_000, model: .gray, isProgressive: true)).bytes, 64 * 30_000_000)
    }

    func testThatAProgressiveOriginalTakesLonger() {
        let pixels = 4000 * 6000
        func decode(_ scans: Int) -> Double {
            let header = header(.jpeg, 4000, 6000, isProgressive: scans > 1, scans: scans)
            return RenderCost(PictureOutline(header, count: 0), [], decoding: 0).milliseconds
        }
        // The usual number of scans takes three times as long, and each further scan its time.
        XCTAssertEqual((decode(10) - decode(1)) / (Double(pixels) * 5 / 1e6), 2, accuracy: 1e-6)
        XCTAssertEqual(decode(10), decode(2), accuracy: 1e-6)
        XCTAssertEqual((decode(100) - decode(1)) / (Double(pixels) * 5 / 1e6), 29, accuracy: 1e-6)
    }

    func testThatEachOutputCountsByItsPixelsAndFormat() {
        // Given an original of one pixel, so that only outputs count
        let header = header(.jpeg, 1, 1)
        func cost(_ sizes: [(Int, Int, ImageFormat)]) -> RenderCost {
            let outputs = sizes.map { size in
                output(header, size.2) { ($0.width, $0.height, $0.resizing, $0.enlarges) = (size.0, size.1, .force, true) }
            }
            return RenderCost(PictureOutline(header, count: 0), outputs, decoding: 0)
        }
        // Then four times the pixels cost about four times as much
        XCTAssertEqual(
            cost([(1200, 800, .jpeg)]).milliseconds, 4 * cost([(600, 400, .jpeg)]).milliseconds,
            accuracy: 0.2 * cost([(1200, 800, .jpeg)]).milliseconds)
        // Two outputs take the sum of their times. In memory they take both pictures, and finishing once
        let (jpeg, png) = (cost([(600, 400, .jpeg)]), cost([(600, 400, .png)]))
        let both = cost([(600, 400, .jpeg), (600, 400, .png)])
        XCTAssertEqual(both.milliseconds, jpeg.milliseconds + png.milliseconds, accuracy: 0.01)
        XCTAssertGreaterThan(both.bytes, png.bytes + 600 * 400 * 3)
        XCTAssertLessThan(both.bytes, png.bytes + jpeg.bytes)
        XCTAssertGreaterThan(png.milliseconds, jpeg.milliseconds)
    }

    func testThatWhatIsAskedOfAnOutputCounts() {
        let header = header(.jpeg, 1000, 1500)
        func cost(_ change: (inout Transform) -> Void) -> RenderCost {
            RenderCost(
                PictureOutline(header, count: 0),
                [
                    output(header) {
                        $0.width = 600
                        change(&$0)
                    }
                ], decoding: 0)
        }
        let plain = cost { _ in }
        for (name, change) in [
            ("blur", { $0.blur = 5 }), ("sharpen", { $0.sharpen = 1 }), ("bytes", { $0.maxBytes = 10_000 }),
            ("quality", { $0.quality = 95 }), ("found quality", { $0.findsQuality = true }), ("rotation", { $0.rotation = 180 }),
            ("padding", { $0.padding = .init(top: 90, right: 90, bottom: 90, left: 90) }),
        ] as [(String, (inout Transform) -> Void)] {
            let asked = cost(change)
            XCTAssertGreaterThan(asked.milliseconds + Double(asked.bytes), plain.milliseconds + Double(plain.bytes), name)
            XCTAssertGreaterThanOrEqual(asked.milliseconds, plain.milliseconds, name)
            XCTAssertGreaterThanOrEqual(asked.bytes, plain.bytes, name)
        }
        // The quality is found with four encodings and four decodings, and the file then made smaller with seven more.
        let found = cost { $0.findsQuality = true }
        XCTAssertGreaterThan(found.milliseconds - plain.milliseconds, (3 * 10 + 4 * 5) * 600 * 900 / 1e6)
        let smaller = cost { ($0.findsQuality, $0.maxBytes) = (true, 1) }
        XCTAssertEqual(smaller.milliseconds - found.milliseconds, 7 * 600 * 900 * 10 / 1e6, accuracy: 1e-6)
        XCTAssertGreaterThan(found.bytes - plain.bytes, 600 * 900 * 2)
        // The quality is lowered up to seven times.
        XCTAssertGreaterThan(
            cost { $0.maxBytes = 1 }.milliseconds - plain.milliseconds, 7 * 600 * 900 * 10 / 1e6 - 1e-6)
    }

    func testThatAProfileCounts() {
        let small = cost(header(.jpeg, 100, 150, colors: .icc(DrawnProfile.displayP3)))
        let large = cost(header(.jpeg, 100, 150, colors: .icc([UInt8](repeating: 0, count: 2_000_000))))
        XCTAssertGreaterThan(large.bytes - small.bytes, 3 * 2_000_000)
        XCTAssertGreaterThan(large.milliseconds - small.milliseconds, 50)
    }

    /// Extreme sizes in small files: a row, a column, all kinds of pixels.
    private var shapes: [(layout: PixelLayout, header: ImageHeader)] {
        var shapes: [(PixelLayout, ImageHeader)] = []
        for (width, height) in [(1, 30_000), (30_000, 1), (1000, 1500), (1, 1), (17, 33)] {
            shapes.append(
                (
                    PixelLayout(width: width, height: height, planarWithSubsampling: 1, 1), header(.jpeg, width, height)
                ))
            for (model, hasAlpha) in [(ColorModel.gray, false), (.gray, true), (.rgb, false), (.rgb, true), (.cmyk, false)] {
                shapes.append(
                    (
                        PixelLayout(width: width, height: height, model: model, hasAlpha: hasAlpha),
                        header(.png, width, height, model: model, hasAlpha: hasAlpha)
                    ))
            }
        }
        return shapes
    }

    func testThatResamplersTakeNoMoreThanWasTold() throws {
        let outputs: [(Int, Int, Bool)] = [(92, 138, false), (1, 5000, true), (5000, 1, true)]
        for (layout, header) in shapes {
            for (width, height, forces) in outputs {
                for light in [false, true] {
                    // Given
                    let output = output(header) {
                        ($0.width, $0.height) = (width, height)
                        if forces { ($0.resizing, $0.enlarges) = (.force, true) }
                    }
                    let what = "\(layout.width) × \(layout.height) \(layout.model) to \(output.plan.size), light: \(light)"
                    // When
                    let told = RenderCost(PictureOutline(header, count: 0), [output], decoding: 0).bytes
                    let resampler = try PictureResampler(
                        output.plan, from: layout, at: PictureGeometry(layout, of: header), chroma: 1, light: light ? .light : nil,
                        tables: FilterTableCache(),
                        limits: Limits(), by: .never)
                    // Then tables, rows and the output are within the prediction, which is not much too high
                    XCTAssertLessThanOrEqual(resampler.bytes, told, what)
                    XCTAssertLessThan(told, 30 * resampler.bytes + 16 << 20, what)
                }
            }
        }
    }

    func testThatTheHeightOfAPictureIsNoMatterToWhatItIsMadeSmallerWith() throws {
        // Given pictures of one pixel a row with more and more rows, up to one that took three gigabytes before
        let bytes = try [10_000, 1_000_000, 31_000_000].map { height in
            let header = header(.png, 1, height, model: .gray)
            let output = output(header) { ($0.width, $0.height) = (92, 600) }
            let layout = PixelLayout(width: 1, height: height, model: .gray)
            return try PictureResampler(
                output.plan, from: layout, at: PictureGeometry(layout, of: header), chroma: 1, light: nil,
                tables: FilterTableCache(),
                limits: Limits(), by: .never
            ).bytes
        }
        // Then
        for bytes in bytes { XCTAssertLessThan(bytes, 1 << 20) }
        XCTAssertEqual(Double(bytes[2]), Double(bytes[1]), accuracy: 0.5 * Double(bytes[1]))
    }

    func testThatAVariantAsNarrowAndHighAsThatCountsWithItsPadding() {
        let header = header(.png, 1, 31_000_000, model: .gray)
        XCTAssertGreaterThan(cost(header, width: 92, .png).bytes, 64 * 31_000_000)
    }

    func testThatScaleOnLoadIsNotCountedOn() throws {
        // Given an original, a variant that is decoded at an eighth of each side, and one that is not
        let pixels = try PixelBuffer(PixelLayout(width: 800, height: 1200, model: .rgb), limits: Limits())
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        for codec in [JPEGCodec(), JPEGCodec(progressive)] {
            let original = try codec.encode(pixels, EncodeOptions())
            let header = try renderer.header(of: original)
            for width in [80, 800] {
                var transform = Transform()
                transform.width = width
                // Then they cost as much as the whole original
                XCTAssertEqual(
                    try renderer.cost(of: renderer.open(original).outline, as: [transform]), cost(header, width: width), "\(width)")
            }
        }
    }

    func testThatLooksAtThePictureCount() throws {
        let pixels = try PixelBuffer(PixelLayout(width: 800, height: 1200, model: .rgb), limits: Limits())
        let original = try JPEGCodec().encode(pixels, EncodeOptions())
        func cost(_ change: (inout Transform) -> Void) throws -> Double {
            var transform = Transform()
            (transform.width, transform.height, transform.resizing) = (80, 80, .fill)
            change(&transform)
            return try renderer.cost(of: renderer.open(original).outline, as: [transform]).milliseconds
        }
        let none = try cost { _ in }
        let one = try cost { $0.gravity = .smart }
        let two = try cost {
            $0.gravity = .smart
            $0.crop = .init(width: 400, height: 400)
        }
        XCTAssertGreaterThan(one - none, 800 * 1200 * 5 / 1e6)
        XCTAssertGreaterThan(two - one, 800 * 1200 * 5 / 1e6)
        // And a hash costs about as much as an analysis
        XCTAssertEqual(try renderer.costOfHash(of: renderer.open(original).outline).milliseconds, one - none, accuracy: none)
        XCTAssertGreaterThan(try renderer.costOfHash(of: renderer.open(original).outline).bytes, 0)
    }

    func testThatTooManyOutputPixelsCostNothingButAreRefused() throws {
        var limits = Limits()
        limits.outputPixels = 10_000
        let pixels = try PixelBuffer(PixelLayout(width: 100, height: 150, model: .rgb), limits: limits)
        let original = try PNGCodec().encode(pixels, EncodeOptions())
        let renderer = Renderer(codecs: [PNGCodec()], limits: limits)
        var transform = Transform()
        transform.width = 80
        XCTAssertNoThrow(try renderer.cost(of: renderer.open(original).outline, as: [transform]))
        transform.width = 100
        XCTAssertThrowsError(try renderer.cost(of: renderer.open(original).outline, as: [transform])) {
            XCTAssertEqual($0 as? RenderError, .tooManyOutputPixels(width: 100, height: 150, limit: 10_000))
        }
    }
}

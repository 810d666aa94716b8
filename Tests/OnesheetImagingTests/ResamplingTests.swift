import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

/// The output of the renderer, compared with the slow reference.
final class ResamplingTests: XCTestCase {
    private let codec = PNGCodec()
    private lazy var renderer = Renderer(codecs: [codec], limits: Limits())

    private func render(_ picture: borrowing PixelBuffer, isLight: Bool = true, _ change: (inout Transform) -> Void) throws
        -> PixelBuffer
    {
        var transform = Transform()
        change(&transform)
        var renderer = renderer
        renderer.resamplesInLinearLight = isLight
        let image = try renderer.render(try codec.encode(picture, EncodeOptions()), as: transform)
        return try codec.picture(Array(image.body.readableBytesView))
    }

    /// The largest difference of any visible sample.
    private func worst(_ picture: borrowing PixelBuffer, _ expected: [Double]) -> Double {
        let (channels, hasAlpha) = (picture.layout.planes[0].channels, picture.layout.hasAlpha)
        var worst = 0.0
        for y in 0..<picture.layout.height {
            picture.withRow(y) { row in
                for index in 0..<row.count {
                    let place = y * row.count + index
                    let alpha = hasAlpha ? expected[place / channels * channels + channels - 1] / 255 : 1
                    let visible = hasAlpha && index % channels == channels - 1 ? 1 : alpha
                    worst = max(worst, abs(Double(row[index]) - expected[place]) * visible)
                }
            }
        }
        return worst
    }

    private func assertAsReference(
        _ width: Int, _ height: Int, to outputs: (Int, Int), model: ColorModel, hasAlpha: Bool = false, line: UInt = #line
    ) throws {
        let picture = try DrawnPoster(width: width, height: height).draw(model, hasAlpha: hasAlpha)
        for isLight in [false, true] {
            let reference = ReferenceResampling(
                region: (0, 0, Double(width), Double(height)), width: outputs.0, height: outputs.1,
                isLight: isLight && (outputs.0 < width || outputs.1 < height))
            let outcome = try render(picture, isLight: isLight) {
                ($0.width, $0.height) = outputs
                $0.resizing = .force
                $0.enlarges = true
            }
            XCTAssertLessThan(worst(outcome, reference.resample(picture)), 1.1, "light: \(isLight)", line: line)
        }
    }

    func testThatShrinkingGrayIsAsTheReference() throws { try assertAsReference(97, 61, to: (31, 22), model: .gray) }
    func testThatShrinkingColorsIsAsTheReference() throws { try assertAsReference(120, 90, to: (41, 29), model: .rgb) }
    func testThatShrinkingALittleIsAsTheReference() throws { try assertAsReference(50, 50, to: (49, 48), model: .rgb) }
    func testThatShrinkingALotIsAsTheReference() throws { try assertAsReference(400, 300, to: (3, 2), model: .rgb) }
    func testThatShrinkingToOnePixelIsAsTheReference() throws { try assertAsReference(64, 48, to: (1, 1), model: .rgb) }
    func testThatEnlargingIsAsTheReference() throws { try assertAsReference(23, 17, to: (61, 50), model: .rgb) }
    func testThatEnlargingOnePixelIsAsTheReference() throws { try assertAsReference(1, 1, to: (9, 7), model: .rgb) }
    func testThatShrinkingTransparentPixelsIsAsTheReference() throws {
        try assertAsReference(90, 70, to: (31, 27), model: .rgb, hasAlpha: true)
    }
    func testThatShrinkingGrayWithAlphaIsAsTheReference() throws {
        try assertAsReference(90, 70, to: (31, 27), model: .gray, hasAlpha: true)
    }

    func testThatAFilledBoxIsAsTheReferencesPart() throws {
        // Given a picture wider than the box, of which the middle third stays
        let picture = try DrawnPoster(width: 90, height: 60).draw()
        let reference = ReferenceResampling(region: (30, 0, 30, 60), width: 15, height: 30, isLight: true)
        // When
        let outcome = try render(picture) {
            ($0.width, $0.height) = (15, 30)
            $0.resizing = .fill
        }
        // Then
        XCTAssertLessThan(worst(outcome, reference.resample(picture)), 1.1)
    }

    func testThatAnEvenPictureStaysEven() throws {
        // Given
        var picture = try PixelBuffer(PixelLayout(width: 83, height: 59, model: .rgb), limits: Limits())
        for y in 0..<59 {
            picture.withMutableRow(y) { row in for index in 0..<row.count { row[index] = [201, 7, 255][index % 3] } }
        }
        for width in [1, 2, 31, 83, 200] {
            // When
            let outcome = try render(picture) {
                $0.width = width
                $0.enlarges = true
            }
            // Then
            for y in 0..<outcome.layout.height {
                outcome.withRow(y) { row in
                    for index in 0..<row.count { XCTAssertEqual(row[index], [201, 7, 255][index % 3]) }
                }
            }
        }
    }

    func testThatAMirroredPictureBecomesTheMirroredVariant() throws {
        // Given no shift to one side, mirroring before and after gives the same result
        let picture = try DrawnPoster(width: 101, height: 67).draw()
        // When
        let straight = try render(picture) { $0.width = 37 }
        let mirrored = try render(picture) {
            $0.width = 37
            ($0.flipsHorizontally, $0.flipsVertically) = (true, true)
        }
        // Then
        let (width, height) = (straight.layout.width, straight.layout.height)
        for y in 0..<height {
            straight.withRow(y) { a in
                mirrored.withRow(height - 1 - y) { b in
                    for x in 0..<width {
                        for channel in 0..<3 {
                            XCTAssertEqual(Int(a[x * 3 + channel]), Int(b[(width - 1 - x) * 3 + channel]), accuracy: 1)
                        }
                    }
                }
            }
        }
    }

    func testThatClearPixelsLendNoColor() throws {
        // Given opaque red columns beside transparent green ones
        var picture = try PixelBuffer(PixelLayout(width: 40, height: 8, model: .rgb, hasAlpha: true), limits: Limits())
        for y in 0..<8 {
            picture.withMutableRow(y) { row in
                for x in 0..<40 {
                    let pixel: [UInt8] = x < 20 ? [255, 0, 0, 255] : [0, 255, 0, 0]
                    for channel in 0..<4 { row[x * 4 + channel] = pixel[channel] }
                }
            }
        }
        // When
        let outcome = try render(picture) { $0.width = 9 }
        // Then
        outcome.withRow(0) { row in
            for x in 0..<9 { XCTAssertEqual(row[x * 4 + 1], 0, "no green at \(x)") }
        }
    }
}

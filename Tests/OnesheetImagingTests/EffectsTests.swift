import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetImaging

/// Changes of pixels other than resampling, compared with the test's own computation.
final class EffectsTests: XCTestCase {
    private let codec = PNGCodec()
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    private func drawn(
        _ width: Int, _ height: Int, model: ColorModel = .rgb, hasAlpha: Bool = false, _ color: (Int, Int) -> [UInt8]
    ) throws -> PixelBuffer {
        let layout = PixelLayout(width: width, height: height, model: model, hasAlpha: hasAlpha)
        var picture = try PixelBuffer(layout, limits: Limits())
        for y in 0..<height {
            picture.withMutableRow(y) { row in
                for x in 0..<width {
                    for (channel, sample) in color(x, y).enumerated() { row[x * layout.planes[0].channels + channel] = sample }
                }
            }
        }
        return picture
    }

    private func render(_ picture: borrowing PixelBuffer, _ change: (inout Transform) -> Void) throws -> PixelBuffer {
        var transform = Transform()
        transform.format = .png
        change(&transform)
        let image = try renderer.render(try codec.encode(picture, EncodeOptions()), as: transform)
        return try codec.picture(Array(image.body.readableBytesView))
    }

    /// Red, green, blue and alpha.
    private func pixel(_ picture: borrowing PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
        let channels = picture.layout.planes[0].channels
        let samples = picture.withRow(y) { row in (0..<channels).map { row[x * channels + $0] } }
        return switch channels {
        case 1: [samples[0], samples[0], samples[0], 255]
        case 2: [samples[0], samples[0], samples[0], samples[1]]
        case 3: samples + [255]
        default: samples
        }
    }

    func testThatSquaresHaveTheMeanOfTheirPixels() throws {
        // Given a picture whose sides are no multiples of the square's
        func color(_ x: Int, _ y: Int) -> [UInt8] { [UInt8(x * 20), UInt8(y * 30), UInt8((x * 31 + y * 17) % 256)] }
        let (width, height, side) = (10, 7, 4)
        // When it is made of squares
        let outcome = try render(try drawn(width, height, color)) { $0.pixelates = side }
        // Then each pixel is the mean of its square, also in narrow ones at the edges
        for y in 0..<height {
            for x in 0..<width {
                let columns = (x / side * side)..<min(width, x / side * side + side)
                let rows = (y / side * side)..<min(height, y / side * side + side)
                for channel in 0..<3 {
                    var total = 0
                    for row in rows { for column in columns { total += Int(color(column, row)[channel]) } }
                    let count = rows.count * columns.count
                    XCTAssertEqual(Int(pixel(outcome, x, y)[channel]), (total + count / 2) / count, "\(x) \(y) \(channel)")
                }
            }
        }
    }

    func testThatTransparentPixelsDoNotContributeToASquare() throws {
        let picture = try drawn(2, 2, hasAlpha: true) { x, _ in x == 0 ? [200, 100, 50, 255] : [0, 0, 0, 0] }
        let outcome = try render(picture) { $0.pixelates = 2 }
        XCTAssertEqual(pixel(outcome, 1, 1), [200, 100, 50, 128])
    }

    func testThatSquaresLargerThanThePictureAreOneColor() throws {
        let outcome = try render(try drawn(3, 3) { x, _ in [UInt8(x * 100), 0, 0] }) { $0.pixelates = .max }
        XCTAssertEqual(Set((0..<9).map { pixel(outcome, $0 % 3, $0 / 3) }), [[100, 0, 0, 255]])
    }

    func testThatGrayKeepsOnlyTheLuminance() throws {
        let picture = try drawn(3, 1) { x, _ in [[255, 0, 0], [0, 255, 0], [10, 20, 200]][x] }
        let outcome = try render(picture) { $0.isGray = true }
        // BT.601: 0.299, 0.587 and 0.114.
        for (x, luminance) in [(0, 76), (1, 150), (2, 38)] {
            let found = pixel(outcome, x, 0)
            XCTAssertEqual(Set(found.prefix(3)).count, 1)
            XCTAssertLessThanOrEqual(abs(Int(found[0]) - luminance), 1)
        }
    }

    func testThatBitonalPixelsAreBlackOrWhite() throws {
        let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [127, 127, 127], [128, 128, 128], [255, 255, 255]]
        let picture = try drawn(5, 1) { x, _ in colors[x] }
        let outcome = try render(picture) { $0.isBitonal = true }
        // Their luminances are 76, 150, 127, 128 and 255.
        XCTAssertEqual((0..<5).map { pixel(outcome, $0, 0)[0] }, [0, 255, 0, 255, 255])
    }

    func testThatAJPEGInPlanesIsBitonalToo() throws {
        let original = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180).file(JPEGCodec(), planes: (2, 2)))
        var transform = Transform()
        (transform.width, transform.isBitonal, transform.format) = (60, true, .png)
        let outcome = try codec.picture(Array(try renderer.render(original, as: transform).body.readableBytesView))
        for x in 0..<60 { XCTAssertTrue([0, 255].contains(pixel(outcome, x, 45)[0])) }
    }

    func testThatPlanesLoseTheirColorsToo() throws {
        // Given a JPEG whose planes are encoded again as they are
        let original = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180).file(JPEGCodec(), planes: (2, 2)))
        var transform = Transform()
        (transform.width, transform.isGray) = (60, true)
        let gray = try JPEGCodec().picture(Array(try renderer.render(original, as: transform).body.readableBytesView))
        for x in 0..<60 {
            let color = pixel(gray, x, 45)
            XCTAssertLessThanOrEqual(Int(color.prefix(3).max() ?? 0) - Int(color.prefix(3).min() ?? 0), 1)
        }
    }

    func testThatABorderIsCutOff() throws {
        // Given a picture of 6 × 4 in a border that is 3, 2, 5 and 1 wide and not quite even
        func color(_ x: Int, _ y: Int) -> [UInt8] {
            (3..<9).contains(x) && (2..<6).contains(y) ? [UInt8(20 * x), 200, 0] : [UInt8(250 + (x + y) % 4), 255, 255]
        }
        let picture = try drawn(14, 7, color)
        for (trim, size, first) in [
            (Transform.Trim(threshold: 10), [6, 4], color(3, 2)),
            (.init(threshold: 10, color: .white), [6, 4], color(3, 2)),
            (.init(threshold: 10, isEqualHorizontally: true), [8, 4], color(3, 2)),
            (.init(threshold: 10, isEqualVertically: true), [6, 5], color(3, 1)),
            // Another colour than the border's, or all that there is, leaves the picture as it is.
            (.init(threshold: 10, color: .black), [14, 7], color(0, 0)), (.init(threshold: 255), [14, 7], color(0, 0)),
        ] as [(Transform.Trim, [Int], [UInt8])] {
            let outcome = try render(picture) { $0.trim = trim }
            XCTAssertEqual([outcome.layout.width, outcome.layout.height], size, "\(trim)")
            XCTAssertEqual(Array(pixel(outcome, 0, 0).prefix(3)), first, "\(trim)")
        }
    }

    func testThatATransparentBorderIsMagenta() throws {
        let picture = try drawn(5, 5, hasAlpha: true) { x, y in
            (1..<4).contains(x) && (1..<3).contains(y) ? [0, 128, 0, 255] : [9, 9, 9, 0]
        }
        let outcome = try render(picture) { $0.trim = .init(threshold: 0, color: Color(red: 255, green: 0, blue: 255)) }
        XCTAssertEqual([outcome.layout.width, outcome.layout.height], [3, 2])
    }

    func testThatOtherOptionsApplyToTheTrimmedPicture() throws {
        // Given 8 × 4 in a border, the left half red and the right half blue
        let picture = try drawn(12, 8) { x, y in
            (2..<10).contains(x) && (2..<6).contains(y) ? (x < 6 ? [255, 0, 0] : [0, 0, 255]) : [255, 255, 255]
        }
        let trim = Transform.Trim(threshold: 5)
        // Then a size is that of the rest, and so are crops, rotations and gravities
        let small = try render(picture) { ($0.trim, $0.width) = (trim, 4) }
        XCTAssertEqual([small.layout.width, small.layout.height], [4, 2])
        let half = try render(picture) {
            $0.trim = trim
            $0.crop = .init(width: 0.5, height: 0, gravity: .compass(x: 1, y: 0))
        }
        XCTAssertEqual([half.layout.width, half.layout.height], [4, 4])
        XCTAssertEqual(pixel(half, 0, 0), [0, 0, 255, 255])
        let turned = try render(picture) { ($0.trim, $0.rotation) = (trim, 90) }
        XCTAssertEqual([turned.layout.width, turned.layout.height], [4, 8])
        XCTAssertEqual(pixel(turned, 0, 0), [255, 0, 0, 255])
        let filled = try render(picture) {
            ($0.trim, $0.resizing, $0.width, $0.height, $0.gravity) = (trim, .fill, 4, 4, .compass(x: 1, y: 0))
        }
        XCTAssertEqual(pixel(filled, 0, 0), [0, 0, 255, 255])
        // And a part beside it is refused
        XCTAssertThrowsError(
            try render(picture) {
                $0.trim = trim
                $0.crop = .init(width: 1, height: 1, gravity: .corner(x: 8, y: 0))
            }.layout.width
        ) { XCTAssertEqual($0 as? RenderError, .outside(width: 8, height: 4)) }
    }

    func testThatTheCostOfATrimCoversEveryOutcome() throws {
        // Given a thin line in an even picture, which becomes very high if its width is asked for
        let picture = try drawn(400, 400) { x, _ in x == 200 ? [0, 0, 0] : [255, 255, 255] }
        let file = try codec.encode(picture, EncodeOptions())
        var transform = Transform()
        (transform.width, transform.enlarges, transform.format) = (40, true, .png)
        let plain = try renderer.cost(of: renderer.open(file).outline, as: [transform])
        transform.trim = .init(threshold: 5)
        // Then the prediction is of the largest picture that there may be
        XCTAssertEqual(try renderer.render(file, as: transform).height, 16_000)
        let cost = try renderer.cost(of: renderer.open(file).outline, as: [transform])
        XCTAssertGreaterThan(cost.bytes, 40 * 16_000 * 3)
        XCTAssertGreaterThan(cost.bytes, plain.bytes)
        XCTAssertGreaterThan(cost.milliseconds, plain.milliseconds)
    }

    func testThatAnOriginalThatIsTooLargeForTheTransformIsRefused() throws {
        let file = try codec.encode(try drawn(10, 10) { _, _ in [1, 2, 3] }, EncodeOptions())
        var transform = Transform()
        transform.maxSourcePixels = 99
        XCTAssertThrowsError(try renderer.render(file, as: transform)) {
            XCTAssertEqual($0 as? RenderError, .codec(.tooManyPixels(width: 10, height: 10, limit: 99), .png))
        }
        XCTAssertThrowsError(try renderer.cost(of: renderer.open(file).outline, as: [transform]))
        (transform.maxSourcePixels, transform.maxSourceBytes) = (100, file.readableBytes - 1)
        XCTAssertThrowsError(try renderer.render(file, as: transform)) {
            XCTAssertEqual(
                $0 as? RenderError, .tooManyBytes(bytes: file.readableBytes, limit: file.readableBytes - 1))
        }
        transform.maxSourceBytes = file.readableBytes
        XCTAssertNoThrow(try renderer.render(file, as: transform))
    }

    func testThatTheQualityIsThatOfTheFormat() throws {
        let original = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180).file(JPEGCodec(), planes: (2, 2)))
        var transform = Transform()
        (transform.width, transform.quality) = (60, 40)
        let plain = try renderer.render(original, as: transform)
        (transform.quality, transform.qualities) = (80, [.jpeg: 40, .png: 10])
        XCTAssertEqual(try renderer.render(original, as: transform).body, plain.body)
    }
}

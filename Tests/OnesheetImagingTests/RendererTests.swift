import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

final class RendererTests: XCTestCase {
    private let jpeg = JPEGCodec()
    private lazy var renderer = Renderer(codecs: [jpeg, PNGCodec()], limits: Limits())

    private func poster(_ width: Int, _ height: Int) throws -> ByteBuffer {
        ByteBuffer(bytes: try DrawnPoster(width: width, height: height).file(jpeg, planes: (2, 2)))
    }

    private func fit(_ width: Int, _ height: Int = 0) -> Transform {
        var transform = Transform()
        (transform.width, transform.height) = (width, height)
        return transform
    }

    func testThatAPosterIsMadeAsWideAsAskedAndKeepsItsShape() throws {
        // Given
        let original = try poster(300, 450)
        // When
        let image = try renderer.render(original, as: fit(92))
        // Then
        XCTAssertEqual([image.width, image.height], [92, 138])
        XCTAssertEqual(image.format, .jpeg)
        XCTAssertEqual(try renderer.header(of: image.body).width, 92)
    }

    func testThatTheVariantHasTheFormatAskedFor() throws {
        // Given
        let original = try poster(60, 90)
        var transform = fit(30)
        transform.format = .png
        // When
        let image = try renderer.render(original, as: transform)
        // Then
        XCTAssertEqual(image.format, .png)
        XCTAssertEqual(try renderer.header(of: image.body).format, .png)
    }

    func testThatAFormatWithoutACodecIsRefusedByName() throws {
        // Given
        let original = try poster(20, 30)
        var transform = fit(10)
        transform.format = .avif
        // When, then
        XCTAssertThrowsError(try renderer.render(original, as: transform)) {
            XCTAssertEqual($0 as? RenderError, .noEncoder(for: .avif))
        }
    }

    func testThatBytesOfNoFormatAreRefused() throws {
        // Given
        let original = ByteBuffer(string: "Not a picture.")
        // When, then
        XCTAssertThrowsError(try renderer.render(original, as: fit(10))) {
            XCTAssertEqual($0 as? RenderError, .unrecognizedFormat)
        }
    }

    func testThatNoBytesAreRefused() throws {
        XCTAssertThrowsError(try renderer.header(of: ByteBuffer())) {
            XCTAssertEqual($0 as? RenderError, .unrecognizedFormat)
        }
    }

    func testThatTooManyPixelsAreRefusedFromTheHeader() throws {
        // Given
        let original = try poster(40, 60)
        let strict = Renderer(codecs: [jpeg], limits: Limits(pixels: 2399))
        // When, then
        XCTAssertThrowsError(try strict.header(of: original)) {
            XCTAssertEqual($0 as? RenderError, .codec(.tooManyPixels(width: 40, height: 60, limit: 2399), .jpeg))
        }
    }

    func testThatTooManyOutputPixelsAreRefusedBeforeAnyWork() throws {
        // Given a file with only an intact header, whose decoding would fail otherwise
        let original = try poster(40, 60).getSlice(at: 0, length: 700) ?? ByteBuffer()
        var transform = fit(9000, 9000)
        transform.enlarges = true
        // When, then
        XCTAssertThrowsError(try renderer.render(original, as: transform)) {
            XCTAssertEqual($0 as? RenderError, .tooManyOutputPixels(width: 6000, height: 9000, limit: 32_000_000))
        }
    }

    func testThatPaddingCountsAmongOutputPixels() throws {
        // Given
        let original = try poster(40, 60)
        var transform = fit(40)
        transform.padding = .init(top: .max, right: .max, bottom: .max, left: .max)
        // When, then
        XCTAssertThrowsError(try renderer.render(original, as: transform)) { error in
            guard case .tooManyOutputPixels? = error as? RenderError else { return XCTFail("\(error)") }
        }
    }

    func testThatATruncatedOriginalIsAnError() throws {
        // Given
        let whole = try poster(200, 300)
        let original = whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer()
        // When, then
        XCTAssertThrowsError(try renderer.render(original, as: fit(100))) {
            XCTAssertEqual($0 as? RenderError, .codec(.truncated, .jpeg))
        }
    }

    func testThatATruncatedOriginalIsRenderedAsFarAsItGoesWhereThatIsAccepted() throws {
        // Given
        let whole = try poster(200, 300)
        let original = whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer()
        renderer.acceptsTruncated = true
        // When
        let image = try renderer.render(original, as: fit(100))
        // Then
        XCTAssertEqual([image.width, image.height], [100, 150])
    }

    func testThatALowerQualityKeepsTheVariantWithinItsBytes() throws {
        // Given
        let original = try poster(200, 300)
        var transform = fit(200)
        transform.maxBytes = 6000
        // When
        let free = try renderer.render(original, as: fit(200))
        let bounded = try renderer.render(original, as: transform)
        // Then
        XCTAssertGreaterThan(free.body.readableBytes, 6000)
        XCTAssertLessThanOrEqual(bounded.body.readableBytes, 6000)
        XCTAssertGreaterThan(bounded.body.readableBytes, 4500, "no lower than needed")
    }

    func testThatAnUntouchedLosslessPictureComesBackAsItWas() throws {
        // Given
        let picture = try DrawnPoster(width: 37, height: 53).draw()
        let original = try PNGCodec().encode(picture, EncodeOptions())
        // When
        let image = try renderer.render(original, as: Transform())
        // Then
        let back = try PNGCodec().picture(Array(image.body.readableBytesView))
        assertImagesSimilar(back, picture, within: 0)
    }
}

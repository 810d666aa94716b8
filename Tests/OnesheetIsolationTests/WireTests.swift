import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetImaging
@testable import OnesheetIsolation

/// The messages between a server and its render processes.
final class WireTests: XCTestCase {
    private let formats: [ImageFormat] = [.jpeg, .png, .webp]

    func testThatEveryPropertyOfATransformIsInItsMessage() throws {
        XCTAssertEqual(Mirror(reflecting: Transform()).children.count, Transform.fields.count)
        XCTAssertEqual(try written(Transform()), Transform())
        XCTAssertEqual(try written(Self.full), Self.full)
        for gravity: Gravity in [
            .center, .focus(x: 0.5, y: -1), .corner(x: 3, y: -4), .smart, .offset(x: 1, y: -1, across: 0.5, down: 9),
            .point(x: 1, y: 2),
        ] {
            var transform = Transform()
            transform.gravity = gravity
            XCTAssertEqual(try written(transform), transform)
        }
    }

    func testThatEveryErrorIsTheSameOnTheOtherSide() throws {
        let errors: [RenderError] = [
            .unrecognizedFormat, .foreignFormat(.bmp), .codec(.damaged(reason: "비트"), .png), .codec(.truncated, .jpeg),
            .codec(.tooManyPixels(width: 1, height: 2, limit: 3), .jpeg), .codec(.tooManyScans(limit: 4), .jpeg),
            .codec(.unsupported("this"), .webp), .codec(.outOfMemory, .png), .codec(.timedOut, .png),
            .tooManyOutputPixels(width: 1, height: 2, limit: 3), .outside(width: 4, height: 5), .tooMuchMemory(bytes: 6, limit: 7),
            .tooManyBytes(bytes: 8, limit: 9), .noEncoder(for: .png), .otherWatermark, .timedOut(after: .milliseconds(1500)),
        ]
        for error in errors { XCTAssertEqual(try written(error), error) }
    }

    func testThatAnOutlineSaysAllThatAPredictionNeeds() throws {
        // Given headers that differ in everything
        let models: [ColorModel] = [.gray, .rgb, .ycbcr, .cmyk]
        let colors: [ColorDescription] = [.sRGB, .icc([UInt8](repeating: 7, count: 300_000)), .gamma(2.2, chromaticities: nil)]
        for (model, colors) in models.flatMap({ model in colors.map { (model, $0) } }) {
            for orientation in Orientation.allCases {
                var header = Self.header
                (header.model, header.colors, header.orientation) = (model, colors, orientation)
                let outline = PictureOutline(header, count: 0)
                // Then the message is short, and the other side has an equal outline, which is upright
                let read = try written(outline)
                XCTAssertEqual(read, outline)
                XCTAssertLessThan(bytes(outline).readableBytes, 64)
                XCTAssertEqual([read.width, read.height], orientation.swapsSides ? [20, 10] : [10, 20])
                XCTAssertEqual(read.profile, colors == .icc([UInt8](repeating: 7, count: 300_000)) ? 300_000 : 0)
            }
        }
    }

    func testThatALongReasonIsCut() throws {
        let error = RenderError.codec(.damaged(reason: String(repeating: "영", count: 1000)), .png)
        guard case .codec(.damaged(let reason), .png) = try written(error) else { return XCTFail("another error") }
        XCTAssertEqual(reason.utf8.count, 300)
    }

    func testThatSettingsAreTheSameOnTheOtherSide() throws {
        var renderer = Renderer(codecs: [], limits: Limits(originBytes: 5, pixels: 6, outputPixels: 7, scans: 8, memory: 9))
        renderer.acceptsTruncated = true
        renderer.resamplesInLinearLight = false
        renderer.deadline = .seconds(3)
        renderer.watermark = WatermarkImage(width: 2, height: 1, pixels: Array(1...8), opacity: 0.5, digest: "abc")
        let codecs: [String: ConfigurationValue] = ["png": .mapping(["effort": .scalar("9"), "list": .list([.null])])]
        let settings = ProcessSettings(of: renderer, limits: renderer.limits, codecs: codecs)
        let read = try written(settings)
        XCTAssertEqual(read.codecs, codecs)
        XCTAssertEqual(read.limits, settings.limits)
        XCTAssertEqual([read.acceptTruncated, read.linearLight], [true, false])
        XCTAssertEqual(read.deadline, .seconds(3))
        XCTAssertEqual(read.watermark?.digest, "abc")
        XCTAssertEqual(settings.inputCapacity, 8)
    }

    func testThatChangedMessagesAreRefusedOrMeanSomething() throws {
        // Given messages of all kinds
        let image = RenderedImage(
            body: ByteBuffer(string: "body"), format: .png, width: 2, height: 3,
            placeholder: Placeholder(thumbHash: Array(0..<25), color: .black))
        let answers: [ProcessAnswer] = [
            .ready, .outline(PictureOutline(Self.header, count: 9)),
            .variants([RenderedVariant(image), RenderedVariant(image)]), .hash(PerceptualHash(bits: 9)),
            .failure(.codec(.damaged(reason: "why"), .png)),
        ]
        var chance = SplitMix(seed: 18)
        for answer in answers { try change(answer, &chance) }
        try change(ProcessCall(.render([Self.full, Transform()]), count: 9), &chance)
        try change(ProcessCall(.outline, count: 9), &chance)
    }

    func testThatCountsBeyondTheMessageAreRefused() {
        var message = ByteBuffer()
        message.writeInteger(UInt8(2))
        message.writeInteger(UInt32.max, endianness: .little)
        XCTAssertThrowsError(try WireReader.read(ProcessAnswer.self, from: message, formats: formats))
    }

    func testThatUnknownFormatsAreRefused() {
        var message = ByteBuffer()
        message.write(ImageFormat.avif)
        XCTAssertThrowsError(try WireReader.read(ImageFormat.self, from: message, formats: formats))
    }

    // MARK: -

    private static let header = ImageHeader(
        format: .jpeg, width: 10, height: 20, model: .ycbcr, hasAlpha: true, isProgressive: true, copyright: "Onesheet",
        exif: [1, 2, 3], scans: 12)

    private static let full: Transform = {
        var transform = Transform()
        (transform.resizing, transform.width, transform.height) = (.fillDown, 1, 2)
        (transform.minWidth, transform.minHeight, transform.enlarges) = (3, 4, true)
        (transform.maxResultSide, transform.skips) = (5, [.jpeg, .png])
        (transform.extends, transform.extendsProportions) = (.corner(x: 1, y: 2), .smart)
        transform.crop = Transform.Crop(width: 0.5, height: 2, gravity: .focus(x: 1, y: 0))
        transform.crop?.insets = Transform.Padding(top: 5, right: 6, bottom: 7, left: 8)
        transform.trim = Transform.Trim(threshold: 9, color: .white, isEqualHorizontally: true)
        (transform.appliesOrientation, transform.zoomX, transform.zoomY, transform.rotation) = (false, 2, 3, 270)
        (transform.flipsHorizontally, transform.flipsVertically) = (true, true)
        transform.padding = Transform.Padding(top: 1, right: 2, bottom: 3, left: 4)
        transform.background = .black
        transform.watermark = Transform.Watermark(opacity: 0.5, position: .repeated, offsetX: 1, offsetY: 2, scale: 3, digest: "d")
        (transform.blur, transform.sharpen, transform.format, transform.pixelates) = (1, 2, .png, 3)
        (transform.isGray, transform.isBitonal, transform.qualities) = (true, true, [.jpeg: 50, .webp: 60])
        (transform.maxSourcePixels, transform.maxSourceBytes, transform.quality, transform.maxBytes) = (1, 2, 3, 4)
        transform.findsQuality = true
        (transform.stripsMetadata, transform.keepsCopyright, transform.convertsToSRGB) = (false, true, false)
        return transform
    }()

    private func bytes(_ value: some WireValue) -> ByteBuffer {
        var message = ByteBuffer()
        message.write(value)
        return message
    }

    private func written<Value: WireValue>(_ value: Value) throws -> Value {
        try WireReader.read(from: bytes(value), formats: formats)
    }

    /// Cuts, lengthens and changes a message. A message that is accepted is written back with a similar length.
    private func change<Value: WireValue>(_ value: Value, _ chance: inout some RandomNumberGenerator) throws {
        let original = Array(bytes(value).readableBytesView)
        XCTAssertEqual(Array(bytes(try written(value)).readableBytesView).count, original.count)
        for length in 0..<original.count {
            XCTAssertThrowsError(
                try WireReader.read(Value.self, from: ByteBuffer(bytes: original.prefix(length)), formats: formats))
        }
        XCTAssertThrowsError(try WireReader.read(Value.self, from: ByteBuffer(bytes: original + [0]), formats: formats))
        for _ in 0..<20_000 {
            var changed = original
            for _ in 0..<Int.random(in: 1...4, using: &chance) {
                changed[Int.random(in: changed.indices, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
            }
            guard let read = try? WireReader.read(Value.self, from: ByteBuffer(bytes: changed), formats: formats) else { continue }
            XCTAssertLessThanOrEqual(bytes(read).readableBytes, changed.count * 3)
        }
    }
}

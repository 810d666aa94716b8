import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetImaging

/// Renders end in time. The clock advances with each read, so the tests count reads.
final class DeadlineTests: XCTestCase {
    /// A renderer whose deadline passes after this many reads of the clock.
    private func renderer(after looks: Int, _ clock: LookedAtClock = LookedAtClock(), linear: Bool = false) -> Renderer {
        var renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())
        renderer.now = { clock.now() }
        renderer.deadline = .seconds(min(looks, 1_000_000_000))
        renderer.resamplesInLinearLight = linear
        return renderer
    }

    /// A picture whose rows get paler; drawn row by row, so that large ones are fast to draw.
    private func original(_ width: Int, _ height: Int, codec: some Codec, hasAlpha: Bool = false) throws -> ByteBuffer {
        let layout = PixelLayout(width: width, height: height, model: .rgb, hasAlpha: hasAlpha)
        var picture = try PixelBuffer(layout, limits: Limits())
        for y in 0..<height {
            picture.withMutableRow(y) { row in row.withUnsafeMutableBufferPointer { $0.update(repeating: UInt8(y & 255)) } }
        }
        return try codec.encode(picture, EncodeOptions(quality: 90))
    }

    /// All operations on a picture, each of which takes time.
    private var all: Transform {
        var transform = Transform()
        (transform.width, transform.height, transform.enlarges) = (200, 280, true)
        transform.resizing = .fill
        transform.gravity = .smart
        transform.rotation = 90
        transform.blur = 2
        transform.sharpen = 1
        transform.padding = .init(top: 20, right: 20, bottom: 20, left: 20)
        transform.maxBytes = 3000
        return transform
    }

    /// The number of reads during `work` without a deadline.
    private func looks(_ work: (Renderer) throws -> Void) rethrows -> Int {
        let clock = LookedAtClock()
        try work(renderer(after: .max, clock))
        return clock.looks
    }

    private func assertEndsInTime(
        _ what: String, atLeast least: Int, line: UInt = #line, _ work: (Renderer) throws -> Void
    ) throws {
        // Given the number of reads without a deadline
        let all = try looks(work)
        XCTAssertGreaterThanOrEqual(all, least, what, line: line)
        // When the deadline passes at any read (the first is the start), then it throws there
        for looks in Set([1, 2, 3] + stride(from: 4, to: all, by: max(1, all / 15)) + [all - 1]) where looks < all {
            XCTAssertThrowsError(try work(renderer(after: looks)), "\(what) after \(looks) of \(all)", line: line) {
                let expected: [RenderError?] = [.timedOut(after: .seconds(looks)), .tooSlow(after: .seconds(looks))]
                XCTAssertTrue(expected.contains($0 as? RenderError), "\(what): \($0)", line: line)
            }
        }
        XCTAssertNoThrow(try work(renderer(after: all)), what, line: line)
    }

    func testThatEveryPartOfARenderLooksAtTheClock() throws {
        for format in [ImageFormat.jpeg, .png] {
            var transform = all
            transform.format = format
            let originals = [
                ("JPEG", try original(150, 225, codec: JPEGCodec())), ("PNG", try original(150, 225, codec: PNGCodec())),
                ("PNG by rows", try original(150, 225, codec: PNGCodec(onlyLibpng: true), hasAlpha: true)),
            ]
            for (name, original) in originals {
                try assertEndsInTime("\(name) to \(format)", atLeast: 15) { _ = try $0.render(original, as: transform) }
            }
        }
    }

    func testThatSeveralVariantsHaveOneDeadline() throws {
        // Given a ladder, whose smaller steps are made from the larger ones
        let original = try original(600, 900, codec: JPEGCodec())
        let transforms = [400, 200, 100].map { width in
            var transform = Transform()
            transform.width = width
            return transform
        }
        try assertEndsInTime("a ladder", atLeast: 10) { _ = try $0.render(original, as: transforms) }
    }

    func testThatTheHashHasADeadline() throws {
        let original = try original(1200, 1800, codec: PNGCodec())
        try assertEndsInTime("a hash", atLeast: 10) { _ = try $0.hash(of: $0.open(original)) }
    }

    func testThatTwiceThePictureIsTwiceTheLooks() throws {
        // Given pictures of single and double height, reduced and enlarged
        for transform in [Transform.width(50), .width(900)] {
            let counts = try [400, 800, 1600].map { height in
                let original = try original(600, height, codec: PNGCodec())
                return try looks { _ = try $0.render(original, as: transform) }
            }
            // Then reads grow linearly with the picture
            let (some, more) = (counts[1] - counts[0], counts[2] - counts[1])
            XCTAssertGreaterThan(some, 0)
            XCTAssertEqual(Double(more), 2 * Double(some), accuracy: 3, "\(counts)")
        }
    }

    func testThatEachThingThatIsDoneToAPictureLooks() throws {
        // Given a picture with alpha in Display P3, of constant size
        var picture = try PixelBuffer(PixelLayout(width: 300, height: 450, model: .rgb, hasAlpha: true), limits: Limits())
        for y in 0..<450 {
            picture.withMutableRow(y) { row in row.withUnsafeMutableBufferPointer { $0.update(repeating: UInt8(y & 255)) } }
        }
        let original = try PNGCodec().encode(picture, EncodeOptions(profile: DrawnProfile.displayP3))
        func looks(_ change: (inout Transform) -> Void) throws -> Int {
            var transform = Transform()
            (transform.format, transform.convertsToSRGB, transform.background) = (.png, false, nil)
            change(&transform)
            return try self.looks { _ = try $0.render(original, as: transform) }
        }
        let none = try looks { _ in }
        // When one operation is added, then there are more reads
        for (name, change) in [
            ("turn", { $0.rotation = 90 }), ("convert", { $0.convertsToSRGB = true }), ("blur", { $0.blur = 3 }),
            ("wide blur", { $0.blur = 30 }), ("sharpen", { $0.sharpen = 2 }), ("flatten", { $0.background = .white }),
            ("canvas", { $0.padding = .init(top: 1, right: 1, bottom: 1, left: 1) }), ("fit bytes", { $0.maxBytes = 1 }),
            ("look", { ($0.crop, $0.gravity) = (.init(width: 200, height: 200), .smart) }),
        ] as [(String, (inout Transform) -> Void)] {
            XCTAssertGreaterThan(try looks(change), none, name)
        }
    }

    func testDeadlineBlamesThePictureOnlyWhileItIsRead() throws {
        // Given a picture, and a transform that encodes it many times
        let original = try original(150, 225, codec: PNGCodec())
        var transform = Transform()
        (transform.format, transform.maxBytes) = (.jpeg, 1)
        let all = try looks { _ = try $0.render(original, as: transform) }
        // When the deadline passes at the first look, then the picture takes too long, and at the last one the transform
        for (looks, failure) in [(1, RenderError.timedOut(after: .seconds(1))), (all - 1, .tooSlow(after: .seconds(all - 1)))] {
            XCTAssertThrowsError(try renderer(after: looks).render(original, as: transform)) {
                XCTAssertEqual($0 as? RenderError, failure)
            }
        }
    }

    func testThatASmallPictureThatBecomesALargeOneLooksForEachRow() throws {
        // Given
        var transform = Transform()
        (transform.width, transform.height, transform.enlarges, transform.resizing) = (1000, 3000, true, .force)
        transform.format = .png
        let original = try original(40, 60, codec: PNGCodec())
        // When each of its rows makes fifty of a thousand pixels
        let looks = try looks { _ = try $0.render(original, as: transform) }
        // Then each read is counted, including those while writing a byte a pixel or less
        XCTAssertGreaterThan(looks, 60 + 15)
    }

    func testThatAHeaderIsReadWithoutOne() throws {
        let original = try original(30, 45, codec: JPEGCodec())
        XCTAssertNoThrow(try renderer(after: 1).header(of: original))
    }
}

extension Transform {
    fileprivate static func width(_ width: Int) -> Transform {
        var transform = Transform()
        (transform.width, transform.enlarges) = (width, true)
        return transform
    }
}

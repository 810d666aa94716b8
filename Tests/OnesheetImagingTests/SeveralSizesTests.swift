import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

#if WebP
    import WebPCodec
#endif

/// Several variants of one original in one render: each has the bytes that it has alone.
final class SeveralSizesTests: XCTestCase {
    #if WebP
        private let codecs: [any Codec] = [JPEGCodec(), PNGCodec(), WebPCodec(effort: 0)]
    #else
        private let codecs: [any Codec] = [JPEGCodec(), PNGCodec()]
    #endif
    private var renderer: Renderer { Renderer(codecs: codecs, limits: Limits()) }

    private func transform(_ width: Int, _ change: (inout Transform) -> Void = { _ in }) -> Transform {
        var transform = Transform()
        transform.width = width
        change(&transform)
        return transform
    }

    /// The usual ladder.
    private var ladder: [Transform] { [23, 38, 46, 85, 125, 195].map { transform($0) } }

    /// The most different variants: crops, turns, qualities with chroma at full resolution, formats, sizes beyond the original.
    private var mixed: [Transform] {
        [
            transform(85) { $0.format = .png },
            transform(40) { ($0.height, $0.resizing, $0.quality) = (40, .fill, 95) },
            transform(30) { $0.crop = .init(width: 120, height: 90, gravity: .corner(x: 31, y: 17)) },
            transform(125) { ($0.rotation, $0.quality) = (90, 90) },
            transform(125) { ($0.flipsHorizontally, $0.format) = (true, .jpeg) },
            transform(63) { ($0.appliesOrientation, $0.blur) = (false, 2) },
            transform(63) { $0.format = .jpeg },
            transform(17) { ($0.height, $0.resizing) = (90, .force) },
            transform(400) { $0.enlarges = true },
            transform(50) { $0.crop = .init(width: 0.3, height: 0.5, gravity: .smart) },
            transform(60) { $0.trim = .init(threshold: 10) },
        ]
    }

    private func assertSameAsAlone(
        _ original: [UInt8], _ transforms: [Transform], by renderer: Renderer, message: String, line: UInt = #line
    ) throws {
        // Given
        let original = ByteBuffer(bytes: original)
        let alone = try transforms.map { try renderer.render(original, as: $0) }
        // When
        let together = try renderer.render(original, as: transforms)
        let reversed = try renderer.render(original, as: transforms.reversed())
        // Then
        XCTAssertEqual(together.map(\.width), alone.map(\.width), message, line: line)
        for (index, transform) in transforms.enumerated() {
            let what = "\(message), \(index): \(transform.canonicalText)"
            XCTAssertTrue(together[index].body == alone[index].body, what, line: line)
            XCTAssertTrue(reversed[transforms.count - 1 - index].body == alone[index].body, "reversed, \(what)", line: line)
            XCTAssertEqual(together[index].placeholder, alone[index].placeholder, what, line: line)
        }
    }

    private func assertSameAsAlone(_ original: [UInt8], _ message: String, line: UInt = #line) throws {
        try assertSameAsAlone(original, ladder, by: renderer, message: "\(message), ladder", line: line)
        try assertSameAsAlone(original, mixed, by: renderer, message: "\(message), mixed", line: line)
    }

    private var poster: DrawnPoster { DrawnPoster(width: 250, height: 375) }

    private func jpeg(progressive: Bool = false) -> JPEGCodec {
        var configuration = JPEGCodec.Configuration()
        configuration.progressive = progressive
        return JPEGCodec(configuration)
    }

    func testThatJPEGsOfEverySubsamplingGiveTheSameBytes() throws {
        for progressive in [false, true] {
            for planes in [(1, 1), (2, 1), (2, 2)] {
                let file = try poster.file(jpeg(progressive: progressive), planes: planes)
                try assertSameAsAlone(file, "\(planes), progressive: \(progressive)")
            }
            try assertSameAsAlone(
                try poster.file(jpeg(progressive: progressive), .gray), "gray, progressive: \(progressive)")
        }
    }

    func testThatJPEGsWhichOnlyTheLibraryReadsGiveTheSameBytes() throws {
        try assertSameAsAlone(try poster.file(jpeg(), .cmyk), "inks")
    }

    func testThatTurnedOriginalsGiveTheSameBytes() throws {
        for orientation: UInt8 in [2, 3, 5, 6, 8] {
            // One entry: the orientation, in big-endian order.
            let exif = Array("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0".utf8) + [orientation] + [0, 0, 0, 0, 0, 0]
            let file = try DrawnPoster(width: 251, height: 187)
                .file(jpeg(), planes: (2, 2), options: EncodeOptions(quality: 90, exif: exif))
            try assertSameAsAlone(file, "orientation \(orientation)")
        }
    }

    func testThatPNGsGiveTheSameBytes() throws {
        for (model, hasAlpha) in [(ColorModel.gray, false), (.gray, true), (.rgb, false), (.rgb, true)] {
            try assertSameAsAlone(try poster.file(PNGCodec(), model, hasAlpha: hasAlpha), "\(model), alpha: \(hasAlpha)")
        }
    }

    #if WebP
        func testThatWebPsGiveTheSameBytes() throws {
            for hasAlpha in [false, true] {
                try assertSameAsAlone(try poster.file(WebPCodec(effort: 0), hasAlpha: hasAlpha), "lossy, alpha: \(hasAlpha)")
            }
            try assertSameAsAlone(try poster.file(WebPCodec(effort: 0, lossless: true), hasAlpha: true), "lossless")
        }
    #endif

    func testStoredValuesGiveTheSameBytes() throws {
        var renderer = renderer
        renderer.resamplesInLinearLight = false
        try assertSameAsAlone(try poster.file(jpeg(), planes: (2, 2)), ladder, by: renderer, message: "stored values")
    }

    func testThatTruncatedOriginalsGiveTheSameBytesWhereTheyAreAccepted() throws {
        var renderer = renderer
        renderer.acceptsTruncated = true
        for progressive in [false, true] {
            let file = try poster.file(jpeg(progressive: progressive), planes: (2, 2))
            try assertSameAsAlone(
                Array(file.prefix(file.count * 2 / 3)), ladder, by: renderer, message: "truncated, progressive: \(progressive)")
        }
    }

    func testThatTheOrderIsTheOneAskedFor() throws {
        // Given
        let original = ByteBuffer(bytes: try poster.file(jpeg(), planes: (2, 2)))
        // When
        let images = try renderer.render(original, as: [46, 195, 23, 85, 85].map { transform($0) })
        // Then
        XCTAssertEqual(images.map(\.width), [46, 195, 23, 85, 85])
        XCTAssertEqual(images[3].body, images[4].body)
    }

    func testThatDamageIsTheSameErrorAsAlone() throws {
        let files = [
            try poster.file(jpeg(), planes: (2, 2)), try poster.file(jpeg(progressive: true), planes: (2, 2)),
            try poster.file(PNGCodec(), hasAlpha: true),
        ]
        for file in files {
            for count in [file.count / 3, file.count / 2, file.count * 3 / 4] {
                // Given
                let part = ByteBuffer(bytes: file.prefix(count))
                var alone: [RenderError] = []
                for transform in ladder {
                    do throws(RenderError) { _ = try renderer.render(part, as: transform) } catch { alone.append(error) }
                }
                XCTAssertEqual(alone.count, ladder.count, "\(count) of \(file.count) bytes")
                // When, then
                XCTAssertThrowsError(try renderer.render(part, as: ladder)) { error in
                    XCTAssertTrue(alone.contains { $0 == error as? RenderError }, "\(error) is not one of \(alone)")
                }
            }
        }
    }

    func testThatTheDeadlineIsForAllSizesTogether() throws {
        // Given a clock that advances by a second with each read
        let original = ByteBuffer(bytes: try poster.file(jpeg(), planes: (2, 2)))
        func render(_ clock: LookedAtClock, deadline seconds: Int) throws {
            var renderer = renderer
            renderer.now = { clock.now() }
            renderer.deadline = .seconds(seconds)
            _ = try renderer.render(original, as: ladder)
        }
        let all = LookedAtClock()
        try render(all, deadline: 1_000_000_000)
        for looks in stride(from: 1, to: all.looks, by: max(1, all.looks / 20)) {
            // When, then
            XCTAssertThrowsError(try render(LookedAtClock(), deadline: looks)) {
                let expected: [RenderError] = [.timedOut(after: .seconds(looks)), .tooSlow(after: .seconds(looks))]
                XCTAssertTrue(($0 as? RenderError).map(expected.contains) ?? false, "\($0) after \(looks) looks of \(all.looks)")
            }
        }
    }
}

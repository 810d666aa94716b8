#if GIF
    import GIFCodec
    import JPEGCodec
    import NIOCore
    import OnesheetCore
    import OnesheetTesting
    import PNGCodec
    import XCTest

    @testable import OnesheetImaging

    /// Originals of a format that has a decoder and no encoder.
    final class DecodeOnlyTests: XCTestCase {
        private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], decoders: [GIFCodec()], limits: Limits())

        private func variant(_ drawing: DrawnGIF, _ change: (inout Transform) -> Void = { _ in }) throws -> RenderedImage {
            var transform = Transform()
            (transform.width, transform.height) = (10, 10)
            change(&transform)
            let original = try renderer.open(ByteBuffer(bytes: drawing.file))
            // A render costs what it was predicted to, or is refused.
            let cost = try renderer.cost(of: original.outline, as: [transform])
            XCTAssertGreaterThan(cost.bytes, 0)
            return try renderer.render(original, as: [transform])[0]
        }

        func testThatTheOutputIsAPNGIfTransparencyStaysAndOtherwiseAJPEG() throws {
            let (opaque, clear) = (DrawnGIF(width: 40, height: 30), DrawnGIF(width: 40, height: 30, transparent: 3))
            XCTAssertEqual(try variant(opaque).format, .jpeg)
            XCTAssertEqual(try variant(clear).format, .png)
            XCTAssertEqual(try variant(clear) { $0.background = .white }.format, .jpeg)
            XCTAssertEqual(try variant(clear) { $0.format = .jpeg }.format, .jpeg)
            XCTAssertEqual(try variant(opaque) { $0.format = .png }.format, .png)
        }

        func testThatTheFormatItselfCannotBeRequested() throws {
            XCTAssertEqual(renderer.formats, [.jpeg, .png])
            XCTAssertEqual(renderer.readableFormats, [.jpeg, .png, .gif])
            XCTAssertThrowsError(try variant(DrawnGIF(width: 40, height: 30)) { $0.format = .gif }) {
                XCTAssertEqual($0 as? RenderError, .noEncoder(for: .gif))
            }
        }

        func testThatAnalysesNeedNoEncoder() throws {
            // Given
            let original = try renderer.open(ByteBuffer(bytes: DrawnGIF(width: 60, height: 90, isInterlaced: true).file))
            var smart = Transform()
            (smart.resizing, smart.width, smart.height, smart.gravity) = (.fill, 20, 20, .smart)
            // Then
            XCTAssertNoThrow(try renderer.hash(of: original))
            XCTAssertGreaterThan(try renderer.costOfHash(of: original.outline).bytes, 0)
            XCTAssertEqual(try renderer.render(original, as: [smart])[0].width, 20)
        }

        func testThatAVariantHasThePixelsOfTheDrawing() throws {
            // Given
            let drawing = DrawnGIF(width: 40, height: 30, transparent: 3)
            // When
            let image = try variant(drawing) { ($0.width, $0.height) = (0, 0) }
            var sink = RowCollector()
            try PNGCodec().decode(Array(image.body.readableBytesView).span, DecodeRequest(), into: &sink)
            // Then opaque pixels are the same
            let rgba = try XCTUnwrap(sink.rgba)
            XCTAssertEqual(rgba.count, drawing.rgba.count)
            for place in stride(from: 0, to: rgba.count, by: 4) where drawing.rgba[place + 3] == 255 {
                XCTAssertEqual(rgba[place..<(place + 4)], drawing.rgba[place..<(place + 4)])
            }
        }
    }
#endif

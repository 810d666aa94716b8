import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetServer

/// Variants with the configured watermark, requested by clients.
final class WatermarkTests: ServerTestCase {
    /// A file of one colour.
    private func file(_ color: [UInt8]) throws -> String {
        var picture = try PixelBuffer(PixelLayout(width: 10, height: 10, model: .rgb, hasAlpha: true), limits: Limits())
        for y in 0..<10 { picture.withMutableRow(y) { row in for x in 0..<40 { row[x] = color[x % 4] } } }
        let bytes = try PNGCodec().encode(picture, EncodeOptions())
        let folder = folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = "\(folder)/watermark.png"
        try Data(bytes.readableBytesView).write(to: URL(filePath: path))
        return path
    }

    /// Red, green and blue of a pixel of a PNG.
    private func pixel(_ answer: ServerAnswer, x: Int, y: Int) throws -> [UInt8] {
        let picture = try PNGCodec().picture(Array(answer.body.readableBytesView))
        let channels = picture.layout.planes[0].channels
        return picture.withRow(y) { row in (0..<3).map { row[x * channels + $0] } }
    }

    func testThatTheConfiguredWatermarkIsDrawnAndAnotherOneIsAnotherVariant() async throws {
        // Given two watermarks and one cache
        let cache = folder()
        let address = "/i/unsafe/w:60/wm:1:soea:2:3/plain/sample://1@png"
        var links: [String?] = []
        for color in [[250, 10, 20, 255], [10, 250, 20, 255]] as [[UInt8]] {
            let server = try await server(keys: "rendering: { watermark: { path: \"\(try file(color))\" } }", cache: cache)
            for _ in 0..<2 {
                let answer = try await server.send(address)
                // Then the variant has the one of its server
                XCTAssertEqual(answer.status, 200, answer.text)
                let size = try XCTUnwrap(answer.field("Onesheet-Size")).split(separator: "x").compactMap { Int($0) }
                XCTAssertEqual(try pixel(answer, x: size[0] - 3, y: size[1] - 4), Array(color.prefix(3)))
                XCTAssertNotEqual(try pixel(answer, x: size[0] - 1, y: size[1] - 1), Array(color.prefix(3)))
                links.append(answer.field("Link"))
            }
            await server.stop()
        }
        // And the canonical address is valid.
        XCTAssertEqual(
            Set(links), ["</i/unsafe/w:60/wm:1.0:soea:2.0:3.0:0.0/plain/sample%3A%2F%2F1@png>; rel=\"canonical\""])
    }

    func testThatAnOpacityOfZeroDrawsNothing() async throws {
        let server = try await server(keys: "rendering: { watermark: { path: \"\(try file([255, 0, 0, 255]))\", opacity: 0.5 } }")
        let plain = try await server.send("/i/unsafe/w:60/plain/sample://1@png")
        let none = try await server.send("/i/unsafe/w:60/wm:0/plain/sample://1@png")
        let half = try await server.send("/i/unsafe/w:60/wm:1/plain/sample://1@png")
        XCTAssertEqual(none.body, plain.body)
        XCTAssertNotEqual(half.body, plain.body)
    }

    func testThatAServerWithoutAWatermarkSaysSo() async throws {
        let server = try await server()
        assertProblem(try await server.send("/i/unsafe/wm:1/plain/sample://1@png"), 400, "rendering.watermark")
    }

    func testThatAFileThatIsNoPictureStopsTheStart() async throws {
        let folder = folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("text".utf8).write(to: URL(filePath: "\(folder)/text"))
        for (watermark, words) in [
            ("{ path: \"\(folder)/text\" }", "not an image of a known format"), ("{ path: \"\(folder)/none\" }", "cannot be used"),
            ("{ path: \"\(folder)/text\", opacity: 1.5 }", "rendering.watermark.opacity"), ("{ opacity: 1 }", "path"),
        ] {
            do {
                _ = try await server(keys: "rendering: { watermark: \(watermark) }")
                XCTFail("\(watermark) is accepted")
            } catch {
                XCTAssertTrue("\(error)".contains(words), "\(watermark): \(error)")
            }
        }
    }
}

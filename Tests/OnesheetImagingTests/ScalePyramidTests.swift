import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

final class ScalePyramidTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    private func transforms(_ widths: [Int]) -> [Transform] {
        widths.map {
            var transform = Transform()
            transform.width = $0
            transform.format = .png
            return transform
        }
    }

    func testThatALadderHasTheOrderAskedFor() throws {
        // Given
        let original = ByteBuffer(bytes: try DrawnPoster(width: 400, height: 600).file(JPEGCodec(), planes: (2, 2)))
        // When
        let images = try renderer.render(original, as: transforms([92, 342, 154, 185]))
        // Then
        XCTAssertEqual(images.map(\.width), [92, 342, 154, 185])
    }

    func testThatEachSizeOfALadderLooksAsIfMadeAlone() throws {
        // Given
        let original = ByteBuffer(bytes: try DrawnPoster(width: 400, height: 600).file(JPEGCodec(), planes: (2, 2)))
        let all = transforms([342, 185, 154, 92])
        // When
        let together = try renderer.render(original, as: all)
        // Then
        for (transform, image) in zip(all, together) {
            let alone = try renderer.render(original, as: transform)
            assertImagesSimilar(
                try PNGCodec().picture(Array(image.body.readableBytesView)),
                try PNGCodec().picture(Array(alone.body.readableBytesView)), within: 1.6, message: "w\(transform.width)")
        }
    }

    func testThatTheSameSizeInTwoFormatsHasTheSamePixels() throws {
        // Given
        let original = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180).file(JPEGCodec(), planes: (2, 2)))
        let pair = transforms([60, 60])
        // When
        let images = try renderer.render(original, as: pair)
        // Then
        XCTAssertEqual(images[0].body, images[1].body)
    }
}

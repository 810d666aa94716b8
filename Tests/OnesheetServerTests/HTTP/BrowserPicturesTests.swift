import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetServer

/// Originals and answers that browsers show.
final class BrowserPicturesTests: ServerTestCase {
    func testAnImageThatDoesNotFitTheNegotiatedFormatHasTheNextOne() async throws {
        // Given a picture that is wider than WebP allows
        let wide = try PNGCodec().encode(
            try PixelBuffer(PixelLayout(width: 17_000, height: 2, model: .rgb), limits: Limits()), EncodeOptions())
        let origin = try await origin { _, _ in .answer(type: "image/png", body: wide) }
        let server = try await server(sources: web(origin), keys: "signing: { unsafe: true }")
        let url = "/i/unsafe/w:16384/plain/\(origin.url)/a.png"
        for (accept, type) in [
            ("image/webp,*/*", "image/png"), ("image/webp,image/jpeg", "image/jpeg"),
            ("image/webp;q=0.9,image/avif;q=0.1", "image/avif"),
        ] {
            for _ in 1...2 {
                // When a client that prefers WebP asks for it
                let answer = try await server.send(url, fields: [("Accept", accept)])
                // Then it gets the format that it wants next
                XCTAssertEqual(answer.status, 200, answer.text)
                XCTAssertEqual(answer.field("Content-Type"), type, accept)
                XCTAssertEqual(answer.field("Vary"), "Accept")
            }
        }
        // And an address with the format says why there is no image
        assertProblem(try await server.send(url + "@webp"), 422, "16384 × 2 pixels in webp")
    }

    func testAnImageWhoseEncoderNeedsMoreMemoryThanThereIsHasTheNextFormat() async throws {
        // Given memory for a large picture in JPEG, but not in AVIF
        let picture = try Picture.jpeg(width: 3000, height: 2000)
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: picture) }
        let server = try await server(
            sources: web(origin), keys: "signing: { unsafe: true }\nlimits: { memory: 128MiB }\nrendering: { isolation: thread }")
        let url = "/i/unsafe/q:70/w:2990/plain/\(origin.url)/a.jpg"
        // When it is negotiated, and named
        let answer = try await server.send(url, fields: [("Accept", "image/avif,*/*")])
        // Then
        XCTAssertEqual(answer.field("Content-Type"), "image/jpeg", answer.text)
        assertProblem(try await server.send(url + "@avif"), 422, "rendering takes")
    }

    func testAnAnswerThatAProxyHasChangedIsAnAnswer() async throws {
        let picture = try Picture.jpeg(width: 30, height: 45)
        let origin = try await origin { _, _ in .answer(status: 203, type: "image/jpeg", body: picture) }
        let server = try await server(sources: web(origin), keys: "signing: { unsafe: true }")
        let answer = try await server.send("/i/unsafe/w:20/plain/\(origin.url)/a.jpg@jpg")
        XCTAssertEqual(answer.status, 200, answer.text)
    }
}

import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Small pictures that are requested in a large size.
final class OutputPixelsTests: ServerTestCase {
    func testThatASliverEnlargedIsABombToo() async throws {
        let sliver = try Picture.jpeg(width: 1, height: 3000)
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: sliver) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        for options in ["rs:force:30000:30000:1", "w:60000/el:1", "rs:fill:20000:20000:1", "mw:60000", "ex:1/w:30000/h:30000"] {
            let answer = try await server.send("/i/unsafe/\(options)/plain/\(origin.url)/a@jpg")
            assertProblem(answer, 400, "at most 32000000", context: options)
        }
    }
}

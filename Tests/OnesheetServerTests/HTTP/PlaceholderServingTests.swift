import OnesheetTesting
import XCTest

@testable import OnesheetServer

final class PlaceholderServingTests: ServerTestCase {
    func testThatAPosterIsDescribedOnceAnySizeOfItWasMade() async throws {
        // Given a server without cached images
        let server = try await server()
        let before = try await server.send("/sources/sample/titles/1").json()
        XCTAssertNil(before["poster"])
        // When one size is made
        let image = try await server.send("/t/p/w92/sample/1.jpg")
        // Then the image and the title have its placeholder
        let hash = try XCTUnwrap(image.field("Onesheet-ThumbHash"))
        XCTAssertEqual(image.field("Onesheet-Size"), "92x138")
        let title = try await server.send("/sources/sample/titles/1").json()
        let poster = try XCTUnwrap(title["poster"] as? [String: Any])
        XCTAssertEqual(poster["thumbHash"] as? String, hash)
        XCTAssertEqual(poster["color"] as? String, image.field("Onesheet-Color"))
        let sizes = try XCTUnwrap(poster["sizes"] as? [String: [String: Int]])
        XCTAssertEqual(sizes["w342"], ["width": 342, "height": 513])
        let list = try await server.send("/sources/sample/titles").json()["titles"] as? [[String: Any]]
        XCTAssertEqual(list?.filter { $0["poster"] != nil }.count, 1)
    }

    func testThatACropSaysNothingOfTheWhole() async throws {
        let server = try await server()
        let image = try await server.send("/i/unsafe/rs:fill:50:50/plain/sample://1@jpg")
        XCTAssertNotNil(image.field("Onesheet-ThumbHash"))
        let title = try await server.send("/sources/sample/titles/1").json()
        XCTAssertNil(title["poster"])
    }

    func testThatWhatIsPurgedIsForgotten() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        _ = try await server.send("/cache/sample/1", method: "DELETE", fields: [("Authorization", "Bearer secret-for-tests")])
        let title = try await server.send("/sources/sample/titles/1").json()
        XCTAssertNil(title["poster"])
    }
}

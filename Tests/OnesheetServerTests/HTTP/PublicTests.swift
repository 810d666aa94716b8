import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// What everyone gets beside images.
final class PublicTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]
    private let lists = [
        "/sources/sample/titles", "/sources/sample/titles?query=salt", "/sources/sample/titles/1",
        "/sources/sample/titles/1/posters",
    ]

    func testConsoleCanBeOff() async throws {
        let server = try await server(keys: "public: { console: false }")
        for path in ["/", "/?plain", "/console/x/main.js", "/favicon.ico"] {
            assertProblem(try await server.send(path), 404, "there is nothing at", context: path)
        }
        let others = try await [server.send("/t/p/w92/sample/1.jpg"), server.send(lists[0])]
        XCTAssertEqual(others.map(\.status), [200, 200])
    }

    func testListsCanBeTheAdministratorsAlone() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }\npublic: { lists: false }")
        for path in lists {
            assertProblem(try await server.send(path), 401, "bearer token", context: path)
            let answer = try await server.send(path, fields: administrator)
            XCTAssertEqual(answer.status, 200, path)
        }
        for path in ["/?plain", "/?plain&source=sample&title=1"] {
            let page = try await server.send(path)
            XCTAssertEqual(page.status, 401, path)
            XCTAssertFalse(page.text.contains("/t/p/"), path)
            let own = try await server.send(path, fields: administrator)
            XCTAssertEqual(own.status, 200, path)
            XCTAssertTrue(own.text.contains("/t/p/"), path)
        }
        let others = try await [server.send("/t/p/w92/sample/1.jpg"), server.send("/sources"), server.send("/")]
        XCTAssertEqual(others.map(\.status), [200, 200, 200])
    }
}

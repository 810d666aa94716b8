import NIOCore
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

    func testNoRouteButImagesAsksAServiceForStrangers() async throws {
        // Given a service, and a server whose lists are the administrator's
        let service = try await origin { _, _ in .answer(type: "application/json", body: ByteBuffer(string: "{}")) }
        let source = "{ type: rest, manifest: tmdb, variables: { token: t }, baseURL: \"\(service.url)\", networks: [loopback] }"
        let server = try await server(
            sources: "web: \(source)\ntmdb: \(source)",
            keys: "admin: { token: secret-for-tests }\ndialects: [tmdb]\npublic: { lists: false }")
        let routes = server.server.responder.router.table.routes.filter { !($0 is any ImageRoute) }
        func paths(_ number: Int, _ route: any Route) throws -> [String] {
            let paths = try XCTUnwrap(try RouteExamples.paths("\(number)", number: number)[route.prefix], route.prefix)
            return paths + (route is ExplainRoute ? paths.map { "\($0)&fetch" } : [])
        }
        // When strangers request every address that is not an image's
        for (index, route) in routes.enumerated() {
            for path in try paths(550 + index, route) { _ = try await server.send(path) }
            // Then the service is not asked
            XCTAssertEqual(service.requests(), 0, route.prefix)
        }
        // And for the administrator it is
        var asking: Set<String> = []
        for (index, route) in routes.enumerated() {
            let before = service.requests()
            for path in try paths(550 + index, route) { _ = try await server.send(path, fields: administrator) }
            if service.requests() > before { asking.insert(route.prefix) }
        }
        XCTAssertEqual(asking, ["/explain", "/sources/", "/3/", "/"])
        // And clients of the service read the refusal in its form
        let refused = try await server.send("/3/search/movie?query=salt")
        XCTAssertEqual(refused.status, 401)
        XCTAssertTrue(refused.text.contains("\"status_code\":7"), refused.text)
    }

    func testAdministratorsRoutesTakeBothSpellings() async throws {
        // Given the routes that answer only the administrator
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        var found: Set<String> = []
        for route in server.server.responder.router.table.routes {
            let other = route.prefix.hasSuffix("/") ? String(route.prefix.dropLast()) : route.prefix + "/"
            for method in ["GET", "DELETE", "POST"] where try await server.send(route.prefix, method: method).status == 401 {
                // When they are asked for with and without a slash, then it is the same
                assertProblem(try await server.send(other, method: method), 401, "bearer token", context: "\(method) \(other)")
                found.insert(route.prefix)
            }
        }
        XCTAssertTrue(found.isSuperset(of: ["/cache/", "/blocked/", "/prefetch", "/errors"]), "\(found)")
        // And an order in the query is carried out
        for path in ["/cache?all", "/cache/?all"] {
            let purged = try await server.send(path, method: "DELETE", fields: administrator)
            XCTAssertEqual(purged.status, 200, "\(path) \(purged.text)")
        }
        let listed = try await [
            server.send("/prefetch/", fields: administrator), server.send("/blocked", fields: administrator),
            server.send("/errors/", fields: administrator),
        ]
        XCTAssertEqual(listed.map(\.status), [200, 200, 200])
    }

    func testSourcesNameTheAddressOfTheirListsOnly() async throws {
        let server = try await server(
            sources: "sample: { type: sample }\nweb: { type: remote, allow: [\"https://a.example/\"] }")
        let listed = try await server.send("/sources").json()
        let sources = try XCTUnwrap(listed["sources"] as? [[String: Any]])
        XCTAssertEqual(sources.map { $0["titles"] as? String }, ["/sources/sample/titles", nil])
    }
}

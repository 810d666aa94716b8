import Foundation
import XCTest

@testable import OnesheetServer

/// The results of `POST /cache/verify`, and its repairs.
final class VerifyTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testThatDamageIsFoundAndThenRepaired() async throws {
        // Given a cache with three files, one of which is emptied
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        await server.finishStoring()
        try Data().write(to: try XCTUnwrap(entryFiles(of: server).first))
        // When they are verified, then repaired, then verified again
        let found = try await verify(server, "/cache/verify")
        let repaired = try await verify(server, "/cache/verify?repair")
        let after = try await verify(server, "/cache/verify")
        // Then the damage is reported, changed only by the repair, and the rest is intact
        for (answer, damaged, isRepaired) in [(found, 1, false), (repaired, 1, true), (after, 0, false)] {
            XCTAssertEqual(answer["whole"] as? Int, 2)
            XCTAssertEqual(answer["damaged"] as? Int, damaged)
            XCTAssertEqual(answer["missing"] as? Int, 0)
            XCTAssertEqual(answer["isRepaired"] as? Bool, isRepaired)
        }
        XCTAssertEqual(try entryFiles(of: server).count, 2)
    }

    func testThatItIsForTheAdministratorAlone() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        let nobody = try await server.send("/cache/verify", method: "POST")
        let unknown = try await server.send("/cache/verified", method: "POST", fields: administrator)
        let looked = try await server.send("/cache/verify", fields: administrator)
        assertProblem(nobody, 401, "admin.token")
        assertProblem(unknown, 404, "/cache/verified")
        assertProblem(looked, 404, "/cache/verify", context: "reading every file is not asked for by following a link")
    }

    private func verify(_ server: RunningServer, _ path: String) async throws -> [String: Any] {
        let answer = try await server.send(path, method: "POST", fields: administrator)
        XCTAssertEqual(answer.status, 200, answer.text)
        return try answer.json()
    }

    private func entryFiles(of server: RunningServer) throws -> [URL] {
        let entries = URL(filePath: server.cache).appending(path: "entries")
        let files = try FileManager.default.subpathsOfDirectory(atPath: entries.path).filter { $0.count > 32 }
        return files.sorted().map { entries.appending(path: $0) }
    }
}

import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

/// Another process on the folder of a running server, such as `onesheet cache purge`.
final class OtherProcessTests: ServerTestCase {
    func testThatAPurgeRightAfterTheStartIsNoticed() async throws {
        // Given a picture on the disk of a server that has just started, and has served it from there
        let cache = folder()
        let path = "/t/p/w92/sample/1.jpg"
        let first = try await server(cache: cache)
        _ = try await first.send(path)
        await first.finishStoring()
        await first.stop()
        let server = try await server(cache: cache)
        let hit = try await server.send(path)
        XCTAssertEqual(hit.field("Cache-Status")?.contains("fwd="), false, "\(hit.fields)")
        // When another process purges everything
        let other = try DiskTier(path: cache)
        _ = try await other.raiseGeneration()
        while try await other.remove(.all, dryRun: false).entries > 0 {}
        // Then the server forgets it, too
        try await waitUntil { try await server.send(path).field("Cache-Status")?.contains("fwd=") == true }
    }
}

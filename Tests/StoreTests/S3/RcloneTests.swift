import NIOCore
import OnesheetCore
import OnesheetTesting
import S3Store
import XCTest

/// The store with rclone, which accepts conditions and ignores them, and starts quickly.
final class RcloneTests: S3TestCase {
    private func engine() async throws -> StoreEngine {
        let engine = try await StoreEngine.start(.rclone)
        addTeardownBlock { engine.stop() }
        return engine
    }

    func testThatTheProbeFindsThatConditionsAreIgnored() async throws {
        // Given
        let store = try store(try await engine().url)

        // When
        let abilities = try await store.probe(prefix: "probed/")

        // Then
        XCTAssertEqual(abilities, StoreAbilities(hasConditions: false))
        let left = try await store.list(prefix: "probed/", after: nil, limit: 100)
        XCTAssertEqual(left.items, [])
    }

    func testThatAWrongSecretIsRefused() async throws {
        // Given
        let store = try store(try await engine().url, secretKey: "wrong")

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.probe(prefix: "") }

        // Then
        guard case .refused? = error else { return XCTFail("\(String(describing: error))") }
    }

    func testThatAKilledStoreIsUnreachable() async throws {
        // Given
        let engine = try await engine()
        let store = try store(engine.url)
        _ = try await store.put(ByteBuffer(string: "x"), as: "a", if: .none)

        // When
        engine.stop()
        let reading = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }
        let deleting = await error { () async throws(StoreError) in try await store.delete(["a", "b"]) }

        // Then
        for error in [reading, deleting] {
            guard case .unreachable? = error else { return XCTFail("\(String(describing: error))") }
        }
    }

    func testThatAStoppedStoreTimesOutAndIsUsedAgain() async throws {
        // Given
        let engine = try await engine()
        let store = try store(engine.url, deadline: .milliseconds(500))
        _ = try await store.put(ByteBuffer(string: "x"), as: "a", if: .none)

        // When
        engine.pause()
        let known = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }
        let writing = await error { () async throws(StoreError) in
            _ = try await store.put(ByteBuffer(string: "y"), as: "b", if: .none)
        }
        engine.resume()
        var found: StoredObject?
        let end = ContinuousClock.now + .seconds(60)
        while found == nil, ContinuousClock.now < end {
            do throws(StoreError) { found = try await store.object("a", limit: 10) } catch {
                guard case .timedOut = error else { throw error }
            }
        }

        // Then
        XCTAssertEqual(known, .timedOut(operation: "read a"))
        XCTAssertEqual(writing, .timedOut(operation: "write b"))
        XCTAssertEqual(found?.body, ByteBuffer(string: "x"))
    }
}

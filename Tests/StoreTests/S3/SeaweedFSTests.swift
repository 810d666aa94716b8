import NIOCore
import OnesheetCore
import OnesheetTesting
import S3Store
import Synchronization
import XCTest

/// The store with SeaweedFS, one process for all tests of the class.
final class SeaweedFSTests: S3TestCase {
    private static let running = Mutex<StoreEngine?>(nil)
    private var url = ""

    override func setUp() async throws {
        if let engine = Self.running.withLock({ $0 }) {
            url = engine.url
        } else {
            let engine = try await StoreEngine.start(.weed)
            Self.running.withLock { $0 = engine }
            url = engine.url
        }
    }

    override class func tearDown() {
        running.withLock { engine in
            engine?.stop()
            engine = nil
        }
    }

    func testThatItFollowsTheRulesOfAnObjectStore() async throws {
        // Given: writers of one name wait for each other for a second or more, each time that they meet.
        let store = try store(url, deadline: .seconds(60))

        // When
        let report = await ObjectStoreConformance(store).run()

        // Then
        // SeaweedFS keeps objects in folders and lists a folder where its name stands without the slash: “a/1” before “a-1”.
        // Amazon does not. The names of the cache have equal lengths in each folder, for which both orders are the same.
        XCTAssertEqual(
            report.failures.filter { !$0.rule.hasPrefix("a list has the names of the prefix in the order") }.map { "\($0)" }, [])
    }

    func testThatAWrongSecretIsRefused() async throws {
        // Given
        let store = try store(url, secretKey: "wrong")

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.probe(prefix: "wrong/") }

        // Then
        guard case .refused(_, let reason)? = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertTrue(reason.contains("`secretKey`"), reason)
    }

    func testThatAMissingBucketIsRefused() async throws {
        // Given
        let store = try store(url, bucket: "missing")

        // When
        let reading = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }
        let listing = await error { () async throws(StoreError) in _ = try await store.list(prefix: "", after: nil, limit: 10) }

        // Then
        for error in [reading, listing] {
            guard case .refused(_, let reason)? = error else { return XCTFail("\(String(describing: error))") }
            XCTAssertTrue(reason.contains("there is no bucket “missing”"), reason)
        }
    }

    func testThatAWrongClockIsRefused() async throws {
        // Given
        let store = try store(url, clock: ManualClock().wallClock)

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }

        // Then
        guard case .refused(_, let reason)? = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertTrue(reason.contains("clock"), reason)
    }

    func testThatNamesOfAllScriptsAreKept() async throws {
        // Given
        let store = try store(url)
        let names = ["a b", "a+b", "a%2Bb", "포스터/극장판 1+1", "🎬", "e\u{301}", "\u{E9}", "q'\"&<>", "*()!", "~x", "a=b&c=d?e#f"]
        for name in names { _ = try await store.put(ByteBuffer(string: name), as: "names/\(name)", if: .none) }

        // When
        let listed = try await store.list(prefix: "names/", after: nil, limit: 100)
        let read = try await listed.items.asyncMap { try await store.object($0.name, limit: 100).map { String(buffer: $0.body) } }

        // Then
        XCTAssertEqual(Set(read.map { Array(($0 ?? "").utf8) }), Set(names.map { Array($0.utf8) }))
        try await store.delete(listed.items.map(\.name))
        let left = try await store.list(prefix: "names/", after: nil, limit: 100)
        XCTAssertEqual(left.items, [])
    }

    func testThatTheProbeFindsConditionsAndLeavesNothing() async throws {
        // Given
        let store = try store(url)

        // When
        let abilities = try await store.probe(prefix: "probed/")

        // Then
        XCTAssertEqual(abilities, StoreAbilities(hasConditions: true))
        let left = try await store.list(prefix: "probed/", after: nil, limit: 100)
        XCTAssertEqual(left.items, [])
    }

    func testThatManyReadsAtOnceAreAnswered() async throws {
        // Given
        let store = try store(url, deadline: .seconds(60))
        let body = ByteBuffer(repeating: 7, count: 30_000)
        _ = try await store.put(body, as: "many/a", if: .none)

        // When
        let found = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<300 { group.addTask { try await store.object("many/a", limit: 30_000)?.body == body } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }

        // Then
        XCTAssertEqual(found, 300)
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}

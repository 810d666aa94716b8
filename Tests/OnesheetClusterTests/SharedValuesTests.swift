import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// Values of several servers in one store.
final class SharedValuesTests: XCTestCase {
    private let store = FakeObjectStore()
    private let log = LogRecorder()
    private let object = "test/state/posters/a"

    private func values(_ store: (any ObjectStore)? = nil) -> SharedValues {
        let tier = SharedTier(store ?? self.store, SharedSettings(prefix: "test"), clock: ManualClock().wallClock)
        return SharedValues(tier, logger: log.logger)
    }

    func testThatAValueOfOneServerIsReadByAnother() async throws {
        // Given
        let (one, other) = (values(), values())
        // When
        let absent = try await one.value("posters/a")
        let written = try await one.change("posters/a") { _ in "first 기생충" }
        // Then
        let read = try await other.value("posters/a")
        let names = try await other.names(below: "posters/")
        XCTAssertNil(absent)
        XCTAssertEqual([written, read], ["first 기생충", "first 기생충"])
        XCTAssertEqual(names, ["posters/a"])
        XCTAssertEqual(store.names, [object])
    }

    func testThatAnUnchangedValueIsNotWritten() async throws {
        let values = values()
        try await values.change("posters/a") { _ in "one" }
        let kept = try await values.change("posters/a") { $0 }
        let left = try await values.change("posters/a") { _ in nil }
        XCTAssertEqual([kept, left], ["one", "one"])
        XCTAssertEqual(store.calls(.put), 1)
    }

    func testThatTwoServersThatChangeAValueAtOnceBothDo() async throws {
        // Given twenty servers
        let servers = (0..<20).map { _ in values() }
        // When, four at a time, each adds its number
        for part in 0..<5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in part * 4..<part * 4 + 4 {
                    group.addTask { try await servers[number].change("posters/a") { ($0.map { "\($0) " } ?? "") + "\(number)" } }
                }
                try await group.waitForAll()
            }
        }
        // Then none is lost
        let numbers = try await values().value("posters/a")?.split(separator: " ").compactMap { Int($0) }
        XCTAssertEqual(numbers?.sorted(), Array(0..<20))
    }

    func testThatAValueThatOthersChangeEachTimeIsGivenUp() async throws {
        // Given another server that always comes first
        let count = Mutex(0)
        let name = object
        do {
            // When
            try await values().change("posters/a") { [store] _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                store[name] = SharedValue(text: "\(number)", write: "other").object(named: "posters/a")
                return "mine"
            }
            XCTFail("it was written")
        } catch {
            // Then
            XCTAssertEqual(error as? SharedValueError, .contended)
        }
        let value = try await values().value("posters/a")
        XCTAssertEqual(value, "\(count.withLock { $0 })")
    }

    func testThatAWriteWhoseAnswerIsLostIsNotRepeated() async throws {
        // Given a store whose first answer to a write is lost
        let store = ForgetfulStore()
        let calls = Mutex(0)
        // When
        let text = try await values(store).change("posters/a") { text in
            calls.withLock { $0 += 1 }
            return (text ?? "") + "+"
        }
        // Then
        XCTAssertEqual(text, "+")
        XCTAssertEqual(calls.withLock { $0 }, 1)
        XCTAssertEqual(store.store.calls(.put), 1)
    }

    func testThatAStoreThatIsDownChangesNothing() async throws {
        // Given
        let values = values()
        try await values.change("posters/a") { _ in "one" }
        let before = store[object]
        for failure in [StoreError.timedOut(operation: "get"), .unreachable(operation: "get", reason: "down")] {
            store.change { $0.failure = failure }
            // When
            do {
                try await values.change("posters/a") { _ in "two" }
                XCTFail("it was written")
            } catch let error as SharedValueError {
                guard case .unavailable = error else { return XCTFail("\(error)") }
            }
            // Then
            XCTAssertEqual(store[object], before)
        }
    }

    func testThatWhatDoesNotCheckIsIgnoredAndReplaced() async throws {
        // Given an intact value
        let values = values()
        try await values.change("posters/a") { _ in "{\"one\":1}" }
        let whole = try XCTUnwrap(store[object])
        var damaged = [ByteBuffer(), ByteBuffer(string: "garbage"), ByteBuffer(repeating: 10, count: 200_000)]
        damaged.append(ByteBuffer(string: "onesheet-value"))
        damaged.append(ByteBuffer(string: "onesheet-value 1\n"))
        damaged.append(ByteBuffer(string: "onesheet-value 0 x y\n{}"))
        damaged.append(SharedValue(text: "{}", write: "x").object(named: "posters/b"))
        for length in 1..<whole.readableBytes { damaged.append(try XCTUnwrap(whole.getSlice(at: 0, length: length))) }
        for place in 0..<whole.readableBytes {
            var flipped = whole
            flipped.setInteger(try XCTUnwrap(whole.getInteger(at: place, as: UInt8.self)) ^ 1, at: place)
            damaged.append(flipped)
        }
        for body in damaged {
            store[object] = body
            // When
            let value = try await values.value("posters/a")
            // Then
            XCTAssertNil(value, "\(body.getString(at: 0, length: min(80, body.readableBytes)) ?? "")")
        }
        XCTAssertGreaterThanOrEqual(log.all.count { $0.contains("is ignored: it is damaged") }, damaged.count)
        let seen = try await values.change("posters/a") { "\($0 ?? "nothing") there" }
        let now = try await values.value("posters/a")
        XCTAssertEqual([seen, now], ["nothing there", "nothing there"])
    }

    func testThatAnObjectThatIsTooLargeOrOfALaterVersionIsIgnoredAndKept() async throws {
        let bodies = [
            ByteBuffer(repeating: 65, count: SharedValue.longest + 1), ByteBuffer(string: "onesheet-value 2 something new\n{}"),
        ]
        for body in bodies {
            // Given
            store[object] = body
            // When
            let value = try await values().value("posters/a")
            XCTAssertNil(value)
            do {
                try await values().change("posters/a") { _ in "mine" }
                XCTFail("it was replaced")
            } catch let error as SharedValueError {
                // Then
                guard case .unreadable(object, _) = error else { return XCTFail("\(error)") }
            }
            XCTAssertEqual(store[object], body)
        }
        XCTAssertTrue(log.all.contains { $0.contains("it has more than 1048576 bytes") && $0.contains(object) }, "\(log.all)")
        XCTAssertTrue(log.all.contains { $0.contains("a later version has written it") }, "\(log.all)")
    }

    func testThatAValueThatIsTooLargeIsNotWritten() async throws {
        do {
            try await values().change("posters/a") { _ in String(repeating: "x", count: SharedValue.longest) }
            XCTFail("it was written")
        } catch let error as SharedValueError {
            guard case .unreadable = error else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(store.names, [])
    }

    func testThatOnlyAStoreThatChecksConditionsKeepsValues() async throws {
        // Given a store whose abilities are not known
        let values = values()
        store.change { $0.failure = .unreachable(operation: "probe", reason: "down") }
        do {
            // When
            _ = try await values.isUsable()
            XCTFail("it is not known")
        } catch {
            // Then
            guard case .unavailable = error else { return XCTFail("\(error)") }
        }
        store.change { ($0.failure, $0.ignoresConditions) = (nil, true) }
        let lying = try await values.isUsable()
        XCTAssertFalse(lying)
        store.change { $0.ignoresConditions = false }
        let (good, again) = (self.values(), self.values())
        let answers = try await [good.isUsable(), good.isUsable(), again.isUsable()]
        XCTAssertEqual(answers, [true, true, true])
        XCTAssertEqual(store.calls(.probe), 4, "an answer is remembered")
    }

    func testThatAPurgeOfTheTierLeavesValues() async throws {
        let tier = SharedTier(store, SharedSettings(prefix: "test"), clock: ManualClock().wallClock)
        try await SharedValues(tier, logger: log.logger).change("posters/a") { _ in "one" }
        _ = try await tier.remove(.all, dryRun: false)
        XCTAssertEqual(store.names, [object])
    }

    func testThatNamesOfAnyTextAreNamesOfObjects() {
        for text in ["", "기생충", String(repeating: "x", count: 10_000), "../a", "\n"] {
            let name = SharedValues.name(of: text, in: "posters")
            XCTAssertTrue(name.utf8.allSatisfy { "0123456789abcdefposters/".utf8.contains($0) }, name)
            XCTAssertEqual(name.utf8.count, "posters/aa/".utf8.count + 32)
        }
    }
}

/// A store whose first write arrives without an answer.
private final class ForgetfulStore: ObjectStore {
    let store = FakeObjectStore()
    private let isFirst = Mutex(true)

    func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? {
        try await store.object(name, limit: limit)
    }

    func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String? {
        let revision = try await store.put(body, as: name, if: condition)
        let isLost = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if isLost { throw .timedOut(operation: "put") }
        return revision
    }

    func delete(_ names: [String]) async throws(StoreError) { try await store.delete(names) }

    func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        try await store.list(prefix: prefix, after: after, limit: limit)
    }

    func probe(prefix: String) async throws(StoreError) -> StoreAbilities { try await store.probe(prefix: prefix) }
}

import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class ObjectStoreConformanceTests: XCTestCase {
    private func failures(_ store: FakeObjectStore, hasConditions: Bool = true) async -> [String] {
        await ObjectStoreConformance(store, hasConditions: hasConditions).run().failures.map(\.rule)
    }

    func testThatTheStoreInMemoryDoesWhatEveryStoreHasToDo() async {
        let store = FakeObjectStore()

        let report = await ObjectStoreConformance(store).run()

        XCTAssertEqual(report.failures.map(\.description), [])
        XCTAssertEqual(store.names, [])
    }

    func testThatAStoreThatIgnoresConditionsIsFoundUnlessItSaysSo() async {
        let store = FakeObjectStore()
        store.change { $0.ignoresConditions = true }

        let (asGood, asItIs) = (await failures(store), await failures(store, hasConditions: false))

        XCTAssertTrue(asGood.contains("“absent” writes only what is not there"), "\(asGood)")
        XCTAssertTrue(asGood.contains("“revision” writes only over that revision"), "\(asGood)")
        XCTAssertTrue(asGood.contains("of many conditional writes at once, exactly one wins"), "\(asGood)")
        XCTAssertTrue(asGood.contains("the probe says what the store can do and leaves nothing behind"), "\(asGood)")
        XCTAssertEqual(asItIs, [])
    }

    func testThatAStoreThatDamagesBytesIsFound() async {
        let store = FakeObjectStore()
        store.change { $0.damage = { _, body in ByteBuffer(bytes: body.readableBytesView.map { $0 ^ 1 }) } }

        let failures = await failures(store)

        XCTAssertTrue(failures.contains("a written object is read back whole"), "\(failures)")
        XCTAssertTrue(failures.contains("the start of an object has its first bytes and the size of all"), "\(failures)")
    }

    func testThatAStoreThatFailsFailsEveryRule() async {
        let store = FakeObjectStore()
        store.change { $0.failure = .unreachable(operation: "get", reason: "it is off") }

        let report = await ObjectStoreConformance(store).run()

        XCTAssertEqual(report.failures.count, report.findings.count)
    }

    func testThatACancelledCallOfASlowStoreTimesOut() async {
        let (store, gate) = (FakeObjectStore(), Gate())
        store.change { $0.gate = gate }

        let call = Task { () async -> StoreError? in
            do throws(StoreError) {
                _ = try await store.object("a", limit: 1)
                return nil
            } catch {
                return error
            }
        }
        await gate.hasBeenReached()
        call.cancel()

        let error = await call.value
        XCTAssertEqual(error, .timedOut(operation: "get"))
    }
}

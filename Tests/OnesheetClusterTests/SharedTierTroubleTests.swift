import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCluster

/// The shared tier with a store that is slow, full or down.
final class SharedTierTroubleTests: XCTestCase {
    private let clock = ManualClock()
    private let store = FakeObjectStore()

    private func tier(_ change: (inout SharedSettings) -> Void = { _ in }) -> SharedTier {
        var settings = SharedSettings(prefix: "onesheet")
        settings.absence = 0
        change(&settings)
        return SharedTier(store, settings, clock: clock.wallClock)
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(.original, "a://\(number)") }

    /// The error of a lookup; `nil` if there was an answer.
    private static func error(_ tier: SharedTier, _ number: Int = 0) async -> CacheError? {
        do throws(CacheError) {
            _ = try await tier.entry(for: key(number))
            return nil
        } catch {
            return error
        }
    }

    /// A lookup that can be cancelled.
    private static func request(_ tier: SharedTier, _ number: Int) -> Task<CacheError?, Never> {
        Task { await error(tier, number) }
    }

    func testThatALookUpTakesNoLongerThanItsDeadline() async {
        // Given a store that never answers and cannot be cancelled
        let gate = Gate()
        store.change { ($0.gate, $0.ignoresCancellation) = (gate, true) }
        let tier = tier { $0.readDeadline = .milliseconds(10) }
        // When
        let failure = await Self.error(tier)
        // Then
        XCTAssertEqual(
            failure, .tier(operation: "look up in the shared store", reason: "the store did not answer in time (get)"))
        XCTAssertEqual(tier.metrics.requests["get"]?.outcomes, ["timeout": 1])
        gate.open()
    }

    func testThatFurtherLookUpsAreMissesWhileManyAreUnderWay() async {
        // Given two lookups that hang, even past their deadline
        let gate = Gate()
        store.change { ($0.gate, $0.ignoresCancellation) = (gate, true) }
        let tier = tier { ($0.readDeadline, $0.readsUnderWay) = (.milliseconds(10), 2) }
        for number in 0..<2 { _ = await Self.error(tier, number) }
        // When
        let third = await Self.error(tier, 3)
        // Then
        XCTAssertNil(third)
        XCTAssertEqual(tier.metrics.requests["get"]?.outcomes, ["timeout": 2, "busy": 1])
        XCTAssertEqual(store.calls(.get), 2)
        // And when they have ended, the store is asked again
        store.change { $0.gate = nil }
        gate.open()
        var tries = 0
        while store.calls(.get) == 2, tries < 100_000 {
            _ = await Self.error(tier, 4)
            tries += 1
        }
        XCTAssertEqual(store.calls(.get), 3)
    }

    func testThatAStoreThatFailsIsLeftAlone() async throws {
        // Given
        store.change { $0.failure = .unreachable(operation: "get", reason: "it is off") }
        let tier = tier { $0.pause = .seconds(3600) }
        // When
        var errors: [CacheError?] = []
        for number in 0..<8 { errors.append(await Self.error(tier, number)) }
        try await tier.store(.sample(at: clock), for: Self.key(9))
        await tier.flush()
        // Then it was asked five times, and after that nothing is written either
        XCTAssertEqual(errors.map { $0 == nil }, [false, false, false, false, false, true, true, true])
        XCTAssertEqual(store.calls(.get), 5)
        XCTAssertEqual(store.calls(.put), 0)
        XCTAssertFalse(tier.metrics.isUp)
        XCTAssertEqual(tier.metrics.dropped, ["skipped": 1])
    }

    func testThatOneCallTriesWhetherAStoreWorksAgain() async {
        // Given a store that failed often, whose pause is over
        store.change { $0.failure = .failed(operation: "get", reason: "500") }
        let tier = tier { $0.pause = .zero }
        for number in 0..<5 { _ = await Self.error(tier, number) }
        XCTAssertFalse(tier.metrics.isUp)
        let gate = Gate()
        store.change { ($0.failure, $0.gate) = (nil, gate) }
        // When one call tries
        async let trial = Self.error(tier)
        await gate.hasBeenReached()
        let meanwhile = await Self.error(tier)
        // Then others do not wait for it
        XCTAssertNil(meanwhile)
        XCTAssertEqual(store.calls(.get), 6)
        gate.open()
        let result = await trial
        XCTAssertNil(result)
        XCTAssertTrue(tier.metrics.isUp)
    }

    func testThatACancelledRequestSaysNothingAboutTheStore() async {
        // Given
        let gate = Gate()
        store.change { $0.gate = gate }
        let tier = tier()
        // When many requests are cancelled while they wait
        for number in 0..<10 {
            let request = Self.request(tier, number)
            await gate.hasBeenReached(by: number + 1)
            request.cancel()
            let result = await request.value
            XCTAssertNil(result)
        }
        // Then
        XCTAssertTrue(tier.metrics.isUp)
        XCTAssertEqual(tier.metrics.requests["get"]?.outcomes, ["cancelled": 10])
    }

    func testThatEntriesBeyondTheQueueAreDroppedAndCounted() async throws {
        // Given a store that hangs, and a queue for three
        let gate = Gate()
        store.change { $0.gate = gate }
        let tier = tier { ($0.queueLimit, $0.queueBytes) = (3, 1000) }
        for number in 0..<4 {
            try await tier.store(.sample(at: clock), for: Self.key(number))
            await gate.hasBeenReached(by: number + 1)
        }
        // When more come, one of them too large for the rest of the bytes
        for number in 4..<6 { try await tier.store(.sample(at: clock), for: Self.key(number)) }
        try await tier.store(.sample(ByteBuffer(repeating: 0, count: 999), at: clock), for: Self.key(6))
        for number in 7..<9 { try await tier.store(.sample(at: clock), for: Self.key(number)) }
        // And one that replaces one that waits
        try await tier.store(.sample("replaced", at: clock), for: Self.key(5))
        // Then
        XCTAssertEqual(tier.metrics.dropped, ["queue full": 2])
        XCTAssertEqual(tier.metrics.queued, 7)
        gate.open()
        await tier.flush()
        XCTAssertEqual(store.names.count, 7)
        let replaced = try await tier.entry(for: Self.key(5))
        XCTAssertEqual(replaced?.body, ByteBuffer(string: "replaced"))
    }

    func testThatShutdownWritesWhatWaits() async throws {
        let tier = tier()
        for number in 0..<50 { try await tier.store(.sample(at: clock), for: Self.key(number)) }

        await tier.close()

        XCTAssertEqual(store.names.count, 50)
        try await tier.store(.sample(at: clock), for: Self.key(50))
        XCTAssertEqual(tier.metrics.dropped, ["shutdown": 1])
        XCTAssertEqual(store.names.count, 50)
    }

    func testThatShutdownDoesNotWaitForAStoreThatHangs() async throws {
        // Given
        let gate = Gate()
        store.change { ($0.gate, $0.ignoresCancellation) = (gate, true) }
        let tier = tier { $0.flushDeadline = .milliseconds(10) }
        for number in 0..<10 { try await tier.store(.sample(at: clock), for: Self.key(number)) }
        await gate.hasBeenReached(by: 4)
        // When
        await tier.close()
        // Then
        XCTAssertEqual(tier.metrics.dropped, ["shutdown": 6])
        gate.open()
    }
}

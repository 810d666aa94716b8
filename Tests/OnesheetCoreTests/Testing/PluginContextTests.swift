import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import XCTest

final class PluginContextTests: XCTestCase {
    func testThatAManualClockMovesOnlyWhenTold() {
        // Given
        let clock = ManualClock(Date(timeIntervalSince1970: 100))
        let seen = clock.wallClock
        let before = seen.now

        // When
        clock.advance(by: .milliseconds(1500))

        // Then
        XCTAssertEqual(before, Date(timeIntervalSince1970: 100))
        XCTAssertEqual(seen.now, Date(timeIntervalSince1970: 101.5))
    }

    func testThatStateIsKeptRemovedAndBroken() async throws {
        // Given
        let state = InMemoryState(["a": "1"])

        // When
        try await state.set("2", for: "b")
        try await state.set(nil, for: "a")
        let values = [try await state.value(for: "a"), try await state.value(for: "b")]
        state.fail("disk full")

        // Then
        XCTAssertEqual(values, [nil, "2"])
        XCTAssertEqual(state.values, ["b": "2"])
        do {
            _ = try await state.value(for: "b")
            XCTFail("broken state was read")
        } catch {
            XCTAssertEqual("\(error)", "disk full")
        }
    }

    func testThatANestedSourceOfAnUnknownTypeIsNamed() {
        // Given
        let context = PluginContext.forTesting(sources: [FaultySource.self])

        // When
        let make = { try context.source(NestedSource(type: "fualty", configuration: .mapping([:]))) }

        // Then
        XCTAssertThrowsError(try make()) {
            XCTAssertEqual("\($0)", "fualty.type: unknown source type “fualty”; did you mean “faulty”?")
        }
        XCTAssertNoThrow(try context.source(NestedSource(type: "faulty", configuration: .mapping([:]))))
    }
}

import OnesheetCore
import OnesheetTesting
import XCTest

final class FakeCoordinatorTests: XCTestCase {
    private let clock = ManualClock()

    func testThatItConforms() async {
        // Given
        let fake = FakeCoordinator(clock: clock)
        let engine = CoordinatorConformance.Engine(
            pass: { [clock] milliseconds in
                clock.advance(by: .milliseconds(milliseconds))
                await Task.yield()
            },
            trim: { log, count in fake.trim(log, to: count) }, forget: { fake.forgetEverything() })

        // When
        let report = await CoordinatorConformance(fake, fake, engine: engine).run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }

    func testThatTheSuiteFindsAnEngineThatGrantsALeaseTwice() async {
        // Given
        let (first, second) = (FakeCoordinator(clock: clock), FakeCoordinator(clock: clock))
        let engine = CoordinatorConformance.Engine { [clock] milliseconds in clock.advance(by: .milliseconds(milliseconds)) }

        // When
        var suite = CoordinatorConformance(first, second, engine: engine)
        suite.limit = .seconds(3)
        let report = await suite.run()

        // Then
        let rules = report.failures.map(\.rule)
        for rule in ["a lease has one holder", "records of several servers are one log", "many at once never pass the limit"] {
            XCTAssertTrue(rules.contains(rule), "\(rule) in \(rules)")
        }
    }

    func testThatAnUnreachableEngineFailsEvenThoseWhoWait() async throws {
        // Given
        let fake = FakeCoordinator(clock: clock)
        let wait = Task { () -> Result<LogPage, CoordinatorError> in
            do throws(CoordinatorError) {
                return .success(try await fake.read("log", after: .start, limit: 1, waiting: 1_000))
            } catch {
                return .failure(error)
            }
        }
        await waitWhile(fake.calls(of: "read") == 0)

        // When
        fake.isUnreachable = true

        // Then
        let result = await wait.value
        guard case .failure(.unreachable) = result else { return XCTFail("\(result)") }
    }

    func testThatALateAnswerHasItsEffect() async throws {
        // Given
        let fake = FakeCoordinator(clock: clock)
        fake.isSlow = true

        // When
        do throws(CoordinatorError) {
            _ = try await fake.acquire("work", for: "me", milliseconds: 1_000)
            XCTFail("it was in time")
        } catch {
            // Then
            XCTAssertEqual(error, .timedOut(operation: "acquire"))
        }
        XCTAssertTrue(fake.isHeld("work"))
    }

    func testThatALogThatLostItsEndBeginsAnEpoch() async throws {
        // Given
        let fake = FakeCoordinator(clock: clock)
        _ = try await fake.append("one", to: "log")
        let position = try await fake.append("two", to: "log")
        let before = try await fake.read("log", after: position, limit: 10, waiting: 0)

        // When
        fake.loseLast(1, of: "log")
        _ = try await fake.append("three", to: "log")
        _ = try await fake.append("four", to: "log")

        // Then
        clock.advance(by: .seconds(1))
        let lost = LogPosition(milliseconds: position.milliseconds, number: 7)
        let after = try await fake.read("log", after: lost, limit: 10, waiting: 1_000)
        XCTAssertFalse(after.isComplete)
        XCTAssertNotEqual(after.epoch, before.epoch)
        XCTAssertEqual(fake.records(of: "log"), ["one", "three", "four"])
    }
}

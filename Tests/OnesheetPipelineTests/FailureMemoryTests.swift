import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

final class FailureMemoryTests: XCTestCase {
    private let clock = ManualClock()
    private let generation = CacheGeneration()
    private let title = TitleReference(source: "films", id: "1")
    private let key = ImageRequest.originalKey(ImageReference(TitleReference(source: "films", id: "1")))

    func testThatEachKindOfFailureIsRememberedAsLongAsItIsWorth() {
        // Given failures and how many seconds each is worth
        let table: [(Failure, Double)] = [
            (.noImage(ImageReference(title)), 120), (.source("films", .notFound(id: "1")), 120),
            (.originRefused(url: "u", answer: 404), 120),
            (.originRefused(url: "u", answer: 410), 120), (.originRefused(url: "u", answer: 403), 30),
            (.render(.unrecognizedFormat), 30), (.origin(.timedOut(url: "u")), 2), (.source("films", .unavailable(reason: "")), 2),
        ]
        for (error, seconds) in table {
            // When one is remembered
            let memory = FailureMemory(clock: clock.wallClock)
            memory.remember(error, of: key, at: generation)
            // Then it is told until its time is up
            clock.advance(by: .seconds(seconds - 1))
            XCTAssertThrowsError(try memory.check(key, at: generation)) { XCTAssertEqual($0 as? Failure, error) }
            clock.advance(by: .seconds(1))
            XCTAssertNoThrow(try memory.check(key, at: generation), "\(error)")
        }
    }

    func testThatAClockThatIsSetBackEndsAFailure() {
        // Given a failure that is worth two seconds
        let memory = FailureMemory(clock: clock.wallClock)
        memory.remember(.origin(.timedOut(url: "u")), of: key, at: generation)
        // When the clock is set back by a day
        clock.advance(by: .seconds(-86_400))
        // Then it is not told for a day
        XCTAssertNoThrow(try memory.check(key, at: generation))
    }

    func testThatThisServersOwnTroubleIsNotRemembered() {
        let memory = FailureMemory(clock: clock.wallClock)
        for error in [Failure.overloaded(retryAfter: 1), .cancelled, .unknownSource("x", known: [])] {
            memory.remember(error, of: key, at: generation)
            XCTAssertNoThrow(try memory.check(key, at: generation), "\(error)")
        }
    }

    func testThatAPurgeForgetsEverything() {
        // Given a failure
        let memory = FailureMemory(clock: clock.wallClock)
        memory.remember(.noImage(ImageReference(title)), of: key, at: generation)
        // When something was purged since, it is looked for again
        XCTAssertNoThrow(try memory.check(key, at: CacheGeneration(memory: 1)))
    }

    func testThatAFloodOfNamesNeitherGrowsTheMemoryNorForgetsWhatIsAskedFor() {
        // Given a failure that is asked for now and then
        let memory = FailureMemory(clock: clock.wallClock)
        memory.remember(.noImage(ImageReference(title)), of: key, at: generation)
        // When a hundred thousand names come that do not exist
        for number in 0..<100_000 {
            memory.remember(.noImage(ImageReference(title)), of: Self.key("x\(number)"), at: generation)
            if number % 1000 == 0 { XCTAssertThrowsError(try memory.check(key, at: generation), "\(number)") }
        }
        // Then it is still told, a bounded number of the others is, and the newest of them
        XCTAssertThrowsError(try memory.check(key, at: generation))
        XCTAssertThrowsError(try memory.check(Self.key("x99999"), at: generation))
        let told = (0..<100_000).reversed().count { number in
            memory.remembered(Self.key("x\(number)"), at: generation) != nil
        }
        XCTAssertLessThanOrEqual(told, 16_384)
    }

    func testThatLongNamesTakeNoMoreThanTheirBytes() {
        // Given names of a hundred kilobytes
        let memory = FailureMemory(clock: clock.wallClock)
        let long = String(repeating: "n", count: 100_000)
        // When a thousand of them come
        let name = { (number: Int) in Self.key("\(number)\(long)") }
        for number in 0..<1000 { memory.remember(.noImage(ImageReference(title)), of: name(number), at: generation) }
        // Then four to eight megabytes of them are told, newest first
        let told = (0..<1000).reversed().count { memory.remembered(name($0), at: generation) != nil }
        XCTAssertLessThanOrEqual(told, 84)
        XCTAssertGreaterThan(told, 40)
    }

    private static func key(_ id: String) -> CacheKey {
        ImageRequest.originalKey(ImageReference(TitleReference(source: "films", id: id)))
    }
}

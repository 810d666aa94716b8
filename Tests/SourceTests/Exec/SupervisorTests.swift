import Foundation
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import ExecSource

final class SupervisorTests: XCTestCase {
    private let title = #"{"id":"1","name":"One"}"#

    private func failure(_ source: ExecSource, _ id: String = "1") async -> SourceError? { await Self.failure(source, id) }

    private static func failure(_ source: ExecSource, _ id: String = "1") async -> SourceError? {
        do throws(SourceError) {
            _ = try await source.title(id)
            return nil
        } catch {
            return error
        }
    }

    func testThatTheProgramStartsWithTheFirstCallAndIsGreetedOnce() async throws {
        // Given
        let title = title
        let launcher = ScriptedLauncher { _, _ in .answer(title) }
        let source = ExecSource(launcher: launcher, context: .forTesting(name: "films"))
        XCTAssertEqual(launcher.starts, 0)

        // When
        _ = try await source.title("1")
        _ = try await source.title("1")

        // Then
        XCTAssertEqual(launcher.starts, 1)
        XCTAssertEqual(
            launcher.lines,
            [
                #"{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"name":"films","protocol":1}}"# + "\n",
                #"{"id":2,"jsonrpc":"2.0","method":"title","params":{"id":"1"}}"# + "\n",
                #"{"id":3,"jsonrpc":"2.0","method":"title","params":{"id":"1"}}"# + "\n",
            ])
    }

    func testThatAShutdownFailsCallsAndStartsNothing() async throws {
        // Given a program that does not answer
        let asked = Gate()
        let launcher = ScriptedLauncher { _, _ in
            asked.open()
            return .nothing
        }
        let source = ExecSource(launcher: launcher, timeout: .seconds(3600), context: .forTesting())
        let waiting = Task { () -> SourceError? in
            do throws(SourceError) {
                _ = try await source.title("1")
                return nil
            } catch {
                return error
            }
        }
        try await asked.pass()

        // When
        await source.shutdown()

        // Then
        let error = await waiting.value
        let later = await failure(source)
        XCTAssertEqual([error, later], Array(repeating: .unavailable(reason: "the source is shut down"), count: 2))
        XCTAssertEqual([launcher.starts, launcher.stops], [1, 1])
    }

    func testThatAShutdownEndsAProgramThatIsStarting() async throws {
        // Given a program that says nothing to the greeting
        let greeted = Gate()
        let launcher = ScriptedLauncher(greet: { _ in
            greeted.open()
            return .nothing
        }) { _, _ in .nothing }
        let source = ExecSource(launcher: launcher, timeout: .seconds(3600), context: .forTesting())
        let waiting = Task { () -> SourceError? in
            do throws(SourceError) {
                _ = try await source.title("1")
                return nil
            } catch {
                return error
            }
        }
        try await greeted.pass()

        // When
        await source.shutdown()

        // Then
        let error = await waiting.value
        XCTAssertEqual(error, .unavailable(reason: "the source is shut down"))
        XCTAssertEqual([launcher.starts, launcher.stops], [1, 1])
    }

    func testThatACallIsAskedUntilTheFourthStartAnswersIt() async throws {
        // Given
        let title = title
        let launcher = ScriptedLauncher { start, _ in start < 4 ? .end : .answer(title) }
        let source = ExecSource(launcher: launcher, context: .forTesting())

        // When
        let answer = try await source.title("1")

        // Then
        XCTAssertEqual(answer.name, "One")
        XCTAssertEqual(launcher.starts, 4)
    }

    func testThatAProgramThatEndsOverItsGreetingLosesNoCall() async throws {
        // Given
        let title = title
        let launcher = ScriptedLauncher(greet: { $0 < 4 ? .end : .answer(#"{"protocol":1}"#) }) { _, _ in .answer(title) }
        let source = ExecSource(launcher: launcher, context: .forTesting())

        // When
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await source.title("1").name } }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }

        // Then
        XCTAssertEqual(answers, Array(repeating: "One", count: 20))
        XCTAssertEqual(launcher.starts, 4)
    }

    func testThatManyCallsAtOnceSurviveAnEndWithOneRestart() async throws {
        // Given a program that ends at the fiftieth call
        let title = title
        let launcher = ScriptedLauncher { start, call in start == 1 ? (call.id < 51 ? .nothing : .end) : .answer(title) }
        let source = ExecSource(launcher: launcher, context: .forTesting())

        // When
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await source.title("1").name } }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }

        // Then
        XCTAssertEqual(answers, Array(repeating: "One", count: 50))
        XCTAssertEqual(launcher.starts, 2)
    }

    func testThatAProgramThatKeepsEndingIsGivenLongerAndLongerPauses() async throws {
        // Given
        let clock = ManualClock()
        let title = title
        let launcher = ScriptedLauncher { start, _ in start < 6 ? .end : .answer(title) }
        let source = ExecSource(launcher: launcher, context: .forTesting(clock: clock))

        // When the first call costs four starts, then a pause follows
        let first = await failure(source)
        let during = await failure(source)
        XCTAssertEqual(launcher.starts, 4)
        clock.advance(by: .milliseconds(500))
        let after = await failure(source)
        XCTAssertEqual(launcher.starts, 5)
        clock.advance(by: .milliseconds(999))
        let tooEarly = await failure(source)
        clock.advance(by: .milliseconds(1))
        let recovered = await failure(source)

        // Then
        XCTAssertEqual(first, .unavailable(reason: "the program has ended"))
        XCTAssertEqual(during, .unavailable(reason: "the program has ended; the next start is in 1 s"))
        XCTAssertEqual(after, .unavailable(reason: "the program has ended; the next start is in 1 s"))
        XCTAssertEqual(tooEarly, .unavailable(reason: "the program has ended; the next start is in 1 s"))
        XCTAssertNil(recovered)
        XCTAssertEqual(launcher.starts, 6)
    }

    func testStrayLineFailsOnlyItsCall() async throws {
        // Given a program with two calls under way, and a third over which it writes what is no answer
        let (title, asked) = (title, Gate())
        let launcher = ScriptedLauncher { start, call in
            if call.params == .object(["id": "bad"]) { return .raw("garbage") }
            if start > 1 { return .answer(title) }
            if call.id == 3 { asked.open() }
            return .nothing
        }
        let source = ExecSource(launcher: launcher, timeout: .seconds(3600), context: .forTesting())
        async let others = withTaskGroup(of: SourceError?.self) { group in
            for _ in 0..<2 { group.addTask { await Self.failure(source) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await asked.pass()
        // When it is asked
        let bad = await failure(source, "bad")
        // Then it fails alone, and the others are answered by another program
        XCTAssertEqual(bad, .malformedAnswer(reason: "the program wrote an invalid answer", details: "garbage"))
        let failures = await others
        XCTAssertEqual(failures, [nil, nil])
    }

    func testEndOverOneClientsCallsStopsNoOther() async {
        // Given a client whose calls end the program, until it is paused
        let title = title
        let launcher = ScriptedLauncher { _, call in call.params == .object(["id": "1"]) ? .answer(title) : .end }
        let source = ExecSource(launcher: launcher, context: .forTesting(clock: ManualClock()))
        let own = FlightClients([ClientKey([1])])
        _ = await WorkContext.with({ $0.clients = own }) { await failure(source, "crash1") }
        let paused = await WorkContext.with({ $0.clients = own }) { await failure(source, "crash2") }
        XCTAssertEqual(paused, .unavailable(reason: "the program has ended; the next start is in 1 s"))
        XCTAssertEqual(launcher.starts, 4)
        // When another client asks, then the program is started for it
        let other = await WorkContext.with({ $0.clients = FlightClients([ClientKey([2])]) }) { await failure(source) }
        XCTAssertNil(other)
        XCTAssertEqual(launcher.starts, 5)
    }

    func testSharedEndBeforeAPauseStopsNoOther() async throws {
        // Given a client whose calls have spoilt three programs, and a call of another client at the fourth
        let (title, asked) = (title, Gate())
        let launcher = ScriptedLauncher { start, call in
            if call.params == .object(["id": "bad"]) { return .raw("garbage") }
            if start > 4 { return .answer(title) }
            asked.open()
            return .nothing
        }
        let source = ExecSource(launcher: launcher, timeout: .seconds(3600), context: .forTesting(clock: ManualClock()))
        let own = FlightClients([ClientKey([1])])
        for _ in 0..<3 { _ = await WorkContext.with({ $0.clients = own }) { await failure(source, "bad") } }
        async let other = WorkContext.with({ $0.clients = FlightClients([ClientKey([2])]) }) { await Self.failure(source) }
        try await asked.pass()
        // When the first one spoils that too
        let paused = await WorkContext.with({ $0.clients = own }) { await failure(source, "bad") }
        // Then only it is paused
        let answered = await other
        XCTAssertNil(answered)
        XCTAssertNotNil(paused)
        XCTAssertEqual(launcher.starts, 5)
    }

    func testPauseHoldsForClientsOverWhoseCallsItEndsToo() async {
        // Given a program that always ends
        let launcher = ScriptedLauncher { _, _ in .end }
        let source = ExecSource(launcher: launcher, context: .forTesting(clock: ManualClock()))
        // When twenty clients ask twice in a pause
        for _ in 0..<2 {
            for client in 0..<20 as Range<UInt8> {
                _ = await WorkContext.with({ $0.clients = FlightClients([ClientKey([client])]) }) { await failure(source) }
            }
        }
        // Then the first one starts it four times, and fifteen others once
        XCTAssertEqual(launcher.starts, 4 + 15)
    }

    func testSuspectsAreAskedOneAtATimeInTurns() async {
        // Given a call that is asked alone, and others of two clients that wait
        let line = SuspectLine(patience: .seconds(3600))
        let order = Order()
        let first = await line.turn(of: ClientKey([0]))
        await withTaskGroup(of: Void.self) { group in
            for (number, client) in ([1, 1, 1, 2] as [UInt8]).enumerated() {
                group.addTask {
                    let turn = await line.turn(of: ClientKey([client]))
                    order.clients.withLock { $0.append(client) }
                    turn.end()
                }
                await waitWhile(line.waiting < number + 1)
            }
            // When it ends
            first.end()
        }
        // Then the client with one is first
        XCTAssertEqual(order.clients.withLock { $0 }, [2, 1, 1, 1])
    }

    func testSilentSuspectLosesItsTurn() async {
        let line = SuspectLine(patience: .milliseconds(1))
        let slow = await line.turn(of: ClientKey([1]))
        slow.begin()
        let next = await line.turn(of: ClientKey([2]))
        XCTAssertFalse(line.has(ClientKey([1])))
        XCTAssertTrue(line.has(ClientKey([2])))
        next.end()
        slow.end()
        XCTAssertFalse(line.has(ClientKey([2])))
    }

    func testThatLastWordsReachTheErrorAndStayDuringThePause() async {
        // Given a program that ends with each call and says why
        let launcher = ScriptedLauncher(lastWords: "no key") { _, _ in .end }
        let source = ExecSource(launcher: launcher, context: .forTesting(clock: ManualClock()))

        // When it is called, and again in the pause
        let (first, during) = (await failure(source), await failure(source))

        // Then
        XCTAssertEqual(first, .failed(reason: "the program has ended", details: "no key"))
        XCTAssertEqual(during, .failed(reason: "the program has ended; the next start is in 1 s", details: "no key"))
    }

    func testThatASilentGreetingSaysToFlush() async {
        // Given a program that keeps its answer
        let launcher = ScriptedLauncher(greet: { _ in .nothing }) { _, _ in .nothing }
        let source = ExecSource(launcher: launcher, timeout: .milliseconds(20), context: .forTesting())

        // When
        let error = await failure(source)

        // Then
        XCTAssertEqual(
            error,
            .unavailable(
                reason: "the program did not answer “initialize” in time; it must flush its standard output after each line"))
    }

    func testThatAProgramThatCannotStartIsUnavailable() async {
        // Given
        let launcher = ScriptedLauncher(mayStart: { _ in false }) { _, _ in .nothing }
        let source = ExecSource(launcher: launcher, context: .forTesting())

        // When
        let error = await failure(source)

        // Then
        XCTAssertEqual(error, .failed(reason: "the program cannot start", details: "no such program"))
    }

    func testThatACallWithoutAnAnswerTimesOutAndHurtsNoOther() async throws {
        // Given
        let title = title
        let launcher = ScriptedLauncher { _, call in
            call.params == .object(["id": "slow"]) ? .nothing : .answer(title)
        }
        let source = ExecSource(launcher: launcher, timeout: .milliseconds(20), context: .forTesting())

        // When
        let error = await failure(source, "slow")

        // Then
        XCTAssertEqual(error, .unavailable(reason: "the program did not answer “title” in time"))
        let next = try await source.title("1")
        XCTAssertEqual(next.id, "1")
        XCTAssertEqual(launcher.starts, 1)
    }

    func testHungProgramIsReplacedAfterFiveSilences() async throws {
        // Given a program that answers nothing
        let title = title
        let launcher = ScriptedLauncher { start, _ in start == 1 ? .nothing : .answer(title) }
        let source = ExecSource(launcher: launcher, timeout: .milliseconds(20), context: .forTesting())

        // When four calls in a row have no answer
        for _ in 0..<4 {
            let error = await failure(source)
            XCTAssertEqual(error, .unavailable(reason: "the program did not answer “title” in time"))
        }

        // Then the fifth goes on to another program
        let fifth = try await source.title("1")
        XCTAssertEqual(fifth.id, "1")
        XCTAssertEqual([launcher.starts, launcher.stops], [2, 1])
    }

    func testAnswerBetweenSilencesKeepsTheProgram() async throws {
        // Given a program that knows one title and says nothing of others
        let title = title
        let launcher = ScriptedLauncher { _, call in call.params == .object(["id": "1"]) ? .answer(title) : .nothing }
        let source = ExecSource(launcher: launcher, timeout: .milliseconds(20), context: .forTesting())

        // When an answer comes after four silences each
        for _ in 0..<3 {
            for _ in 0..<4 { _ = await failure(source, "slow") }
            _ = try await source.title("1")
        }

        // Then the program goes on
        XCTAssertEqual([launcher.starts, launcher.stops], [1, 0])
    }

    func testThatAnotherProtocolIsRefused() async {
        // Given
        let launcher = ScriptedLauncher { _, _ in .nothing }
        let source = ExecSource(launcher: Greeting(launcher), context: .forTesting())

        // When
        let error = await failure(source)

        // Then
        XCTAssertEqual(error, .malformedAnswer(reason: "the program does not support protocol 1"))
    }

    /// The clients whose turns have come.
    private final class Order: Sendable {
        let clients = Mutex<[UInt8]>([])
    }

    /// Answers the greeting with another protocol version.
    private struct Greeting: ChildLauncher {
        struct Mute: Child {
            let listener: Conversation
            func send(_ line: Data) { listener.received(Data(#"{"id":1,"result":{"protocol":2}}"#.utf8)) }
            func stop() {}
            func shutdown() async {}
            var isRunning: Bool { false }
        }
        init(_ launcher: ScriptedLauncher) {}
        func launch(_ listener: Conversation) throws -> any Child { Mute(listener: listener) }
    }
}

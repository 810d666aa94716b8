import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetCluster
@testable import OnesheetPipeline

/// Decisions of servers that were away, are new, or join others.
final class JoiningDecisionsTests: DecisionServersTestCase {
    // MARK: Coming and going

    func testThatAServerThatWasAwayKnowsWhatWasDecided() async throws {
        // Given a server that has stopped
        let (one, away) = (try await member(), try await member())
        await away.store("a", title)
        await away.stop()
        // When others decide, and it comes back
        try await one.decide(title) { $0.pin("x") }
        try await one.block(hash)
        let back = try await member(away)
        // Then it has made the decisions before it serves
        let decision = try await back.decision(title)
        let blocked = try await back.choices.blocked()
        XCTAssertEqual(decision.pinned, "x")
        XCTAssertEqual(blocked, [hash])
        XCTAssertFalse(back.has("a"))
        // And it is to search for the picture, also after a restart, until that is done
        await back.stop()
        let again = try await member(back)
        let searches = try await again.choices.searches()
        XCTAssertEqual(searches.map(\.picture), [hash])
        // Also if it is asked for again while one runs
        try await again.choices.addSearches(for: [hash])
        try await again.choices.removeSearches(searches)
        let still = try await again.choices.searches()
        XCTAssertEqual(still.map(\.picture), [hash])
        try await again.choices.removeSearches(still)
        let left = try await again.choices.searches()
        XCTAssertEqual(left, [])
    }

    func testStatedMatchesReachAllServers() async throws {
        // Given statements of a server
        let one = try await member()
        try await one.decide(title) { $0.match(["tmdb": "1", "kmdb": "none"]) }
        // When a statement is taken back, and another one made
        try await one.decide(title) { $0.match(["kmdb": nil, "fanart": "2"]) }
        let other = try await member()
        // Then a new server has what is stated
        for server in [one, other] {
            let decision = try await server.decision(title)
            XCTAssertEqual(decision.matches, ["tmdb": "1", "fanart": "2"])
        }
        // And of two statements about a member, that of the store stays
        var joined = PosterDecision(matches: ["tmdb": "1"])
        joined.join(PosterDecision(matches: ["tmdb": "3", "kmdb": "4"]))
        XCTAssertEqual(joined.matches, ["tmdb": "1", "kmdb": "4"])
    }

    func testThatAServerWithAnEmptyStateReadsAllOnce() async throws {
        // Given
        let one = try await member()
        let titles = (0..<50).map { TitleReference(source: "films", id: "\($0)") }
        for title in titles { try await one.decide(title) { $0.pin("pin of \(title.id)") } }
        let before = (store.calls(.get), store.calls(.list))
        // When
        let new = try await member()
        // Then
        for title in titles {
            let decision = try await new.decision(title)
            XCTAssertEqual(decision.pinned, ExactText("pin of \(title.id)"))
        }
        // The list of blocked pictures is one more.
        XCTAssertEqual(store.calls(.get) - before.0, titles.count + 1)
        XCTAssertEqual(store.calls(.list) - before.1, 1)
    }

    func testThatANewServerPurgesNothingOfTheOthers() async throws {
        let one = try await member()
        try await one.decide(title) { $0.pin("x") }
        let records = coordinator.records(of: "purges").count
        _ = try await member()
        XCTAssertEqual(coordinator.records(of: "purges").count, records)
    }

    func testThatAFirstStartWithoutTheStoreServesAndReadsLater() async throws {
        // Given
        let one = try await member()
        try await one.decide(title) { $0.pin("x") }
        store.change { $0.failure = .unreachable(operation: "any", reason: "down") }
        // When
        let new = try await member(waits: false)
        let isReady = await new.decisions.waitBeforeServing(upTo: .milliseconds(1))
        // Then
        XCTAssertFalse(isReady)
        XCTAssertEqual(new.decisions.unread, 1)
        await new.store("a", title)
        await waitWhile(!log.all.contains { $0.contains("cannot read the shared decisions about posters for now") })
        store.change { $0.failure = nil }
        await new.waits(for: title) { $0.pinned == "x" }
        await waitWhile(new.has("a"))
        await waitWhile(new.decisions.unread > 0)
    }

    func testThatALostLogMakesServersReadAllAgain() async throws {
        // Given a decision of which the other server was not told
        let (one, two) = (try await member(), try await member())
        _ = try await one.decisions.decide(ImageReference(title)) { $0.pin("x") }
        // When
        coordinator.forgetEverything()
        // Then
        await two.waits(for: title) { $0.pinned == "x" }
    }

    func testThatADecisionThatWasNotToldIsToldByTheNextStart() async throws {
        // Given a server that has ended between a decision and its purge
        let (one, two) = (try await member(), try await member())
        await two.store("a", title)
        let values = values()
        _ = try await values.change(of: ImageReference(title), from: PosterDecision()) { $0.pin("x") }
        await one.stop()
        // When it starts again
        let back = try await member(one)
        // Then all know the decision
        await back.waits(for: title) { $0.pinned == "x" }
        await two.waits(for: title) { $0.pinned == "x" }
        await waitWhile(two.has("a"))
    }

    // MARK: Joining

    func testThatAServerThatJoinsBringsItsDecisions() async throws {
        // Given decisions of two servers that share nothing
        let (first, second) = (try state(), try state())
        let (one, two) = (PosterChoices(first), PosterChoices(second))
        let third = TitleReference(source: "films", id: "c")
        try await one.change(ImageReference(title)) { $0.decision = PosterDecision(pinned: "1", rejected: ["a", "2"]) }
        try await two.change(ImageReference(title)) { $0.decision = PosterDecision(pinned: "2", rejected: ["b"]) }
        try await two.change(ImageReference(other)) { $0.decision = PosterDecision(pinned: "3") }
        try await two.change(ImageReference(third)) { $0.chosen = "automatic" }
        try await one.setBlocked(true, for: hash)
        try await two.setBlocked(true, for: PerceptualHash(bits: 1))
        // When they begin to share
        let members = [try await member(state: first), try await member(state: second)]
        // Then rejections and blocked pictures are added up, and of two pins the first stays
        for member in members {
            await member.waits(for: title) { $0 == PosterDecision(pinned: "1", rejected: ["a", "2", "b"]) }
            await member.waits(for: other) { $0.pinned == "3" }
            await member.waits(forBlocked: [hash.bits, 1])
        }
        XCTAssertEqual(store.names.count, 3)
        let automatic = try await members[1].choices.choice(of: ImageReference(third)).chosen
        XCTAssertEqual(automatic, "automatic")
    }

    func testThatAStoreThatHasLostDecisionsGetsThemBack() async throws {
        // Given
        let one = try await member()
        try await one.decide(title) { $0.pin("x") }
        try await one.block(hash)
        for name in store.names { store[name] = nil }
        await one.stop()
        // When
        _ = try await member(one)
        // Then
        await waitWhile(store.names.count < 2)
        let new = try await member()
        let decision = try await new.decision(title)
        let blocked = try await new.choices.blocked()
        XCTAssertEqual(decision.pinned, "x")
        XCTAssertEqual(blocked, [hash])
    }

    func testThatADamagedChoiceOfThisServerIsReplaced() async throws {
        // Given
        let one = try await member()
        try await one.decide(title) { $0.pin("x") }
        let state = try state()
        try await state.part("posters").set("{damaged", for: "title \(title)")
        // When
        let two = try await member(state: state)
        // Then
        let decision = try await two.decision(title)
        XCTAssertEqual(decision.pinned, "x")
    }
}

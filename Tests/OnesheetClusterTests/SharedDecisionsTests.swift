import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetCluster
@testable import OnesheetPipeline

/// Decisions that servers tell each other.
final class SharedDecisionsTests: DecisionServersTestCase {
    // MARK: Telling

    func testThatADecisionReachesTheOthersWithOneRequestEach() async throws {
        // Given three servers with an entry of the title
        let members = [try await member(), try await member(), try await member()]
        for member in members { await member.store("a", title) }
        let before = store.calls(.get)
        // When one of them decides
        try await members[0].decide(title) { $0.pin("http://a.example/1") }
        // Then all have made the decision and purged the title
        for member in members { await member.waits(for: title) { $0.pinned == "http://a.example/1" } }
        for member in members { await waitWhile(member.has("a")) }
        // One to change it, and one for each of the others
        XCTAssertEqual(store.calls(.get) - before, 3)
    }

    func testDecisionAboutALogoLeavesThePosterAsItIs() async throws {
        // Given two servers, and a pinned poster
        let (one, two) = (try await member(), try await member())
        try await one.decide(title) { $0.pin("poster") }
        await two.waits(for: title) { $0.pinned == "poster" }
        let logo = ImageReference(title, try ImageSelector("logo.ko.none"))
        // When a logo in some languages is pinned
        _ = try await one.decisions.decide(logo) { $0.pin("logo") }
        _ = try await one.cache.purge([.tag(.title(title))], on: .allServers(notices: [DecisionNotice.poster(logo).tag]))
        // Then both have both
        try await waitUntil { try await two.choices.decision(of: logo).pinned == "logo" }
        let poster = try await two.decision(title)
        XCTAssertEqual(poster.pinned, "poster")
        let decided = try await two.choices.decided()
        XCTAssertEqual(Set(decided), [ImageReference(title), logo])
    }

    func testEveryServerForgetsWhatItRemembersAtADecision() async throws {
        // Given two servers
        let (one, two) = (try await member(), try await member())
        let before = [one, two].map(\.memory.generation)
        let received = two.log.metrics.received
        // When one of them tells of a decision
        try await one.tell(title)
        await waitWhile(two.log.metrics.received == received)
        // Then what both have learned before belongs to an older generation
        for (member, generation) in zip([one, two], before) { XCTAssertGreaterThan(member.memory.generation, generation) }
    }

    func testThatAPurgeWithoutADecisionAsksNothing() async throws {
        // Given
        let (one, two) = (try await member(), try await member())
        try await one.decide(title) { $0.pin("x") }
        await two.waits(for: title) { $0.pinned == "x" }
        await two.store("a", title)
        let before = (store.calls(.get), store.calls(.list))
        // When
        _ = try await one.cache.purge([.tag(.title(title))])
        await waitWhile(two.has("a"))
        // Then
        XCTAssertEqual(store.calls(.get), before.0)
        XCTAssertEqual(store.calls(.list), before.1)
    }

    func testThatADecisionIsMadeBeforeThePurgeIsApplied() async throws {
        // Given a server whose reading of the store waits
        let (one, two) = (try await member(), try await member())
        await two.store("a", title)
        _ = try await one.decisions.decide(ImageReference(title)) { $0.pin("x") }
        let gate = Gate()
        store.change { $0.gate = gate }
        // When the purge arrives
        _ = try await one.cache.purge(
            [.tag(.title(title))], on: .allServers(notices: [DecisionNotice.poster(ImageReference(title)).tag]))
        await gate.hasBeenReached()
        // Then it is not applied yet, and with the answer both are
        XCTAssertTrue(two.has("a"))
        store.change { $0.gate = nil }
        gate.open()
        await waitWhile(two.has("a"))
        let decision = try await two.decision(title)
        XCTAssertEqual(decision.pinned, "x")
    }

    func testThatAForgottenDecisionIsForgottenEverywhere() async throws {
        // Given
        let (one, two) = (try await member(), try await member())
        try await one.decide(title) { $0.pin("x") }
        await two.waits(for: title) { $0.pinned == "x" }
        // When
        try await two.decisions.forget(ImageReference(title))
        try await two.tell(title)
        // Then
        await one.waits(for: title) { $0.isEmpty }
        let choice = try await one.choices.choice(of: ImageReference(title))
        XCTAssertEqual(choice, PosterChoice())
        // And a server that comes later does not bring it back
        let third = try await member()
        let decision = try await third.decision(title)
        XCTAssertEqual(decision, PosterDecision())
    }

    func testThatWhatNobodyHasDecidedIsForgottenWithoutAnObject() async throws {
        let one = try await member()
        try await one.choices.change(ImageReference(title)) { $0.chosen = "http://a.example/1" }
        try await one.decisions.forget(ImageReference(title))
        let choice = try await one.choices.choice(of: ImageReference(title))
        XCTAssertEqual(choice, PosterChoice())
        XCTAssertEqual(store.names, [])
    }

    func testThatAnAutomaticChoiceStaysAndCostsNothing() async throws {
        // Given two servers that have chosen for themselves
        let (one, two) = (try await member(), try await member())
        let before = (store.calls(.get), store.calls(.put), store.calls(.list))
        for (member, name) in [(one, "1"), (two, "2")] {
            try await member.choices.change(ImageReference(title)) { $0.chosen = name }
        }
        XCTAssertEqual(store.calls(.get), before.0)
        XCTAssertEqual(store.calls(.put), before.1)
        XCTAssertEqual(store.calls(.list), before.2)
        // When one rejects another candidate, and then that of the other server
        try await one.decide(title) { $0.reject("3") }
        await two.waits(for: title) { $0.rejected == ["3"] }
        let kept = try await two.choices.choice(of: ImageReference(title)).chosen
        try await one.decide(title) { $0.reject("2") }
        await two.waits(for: title) { $0.rejected == ["2", "3"] }
        // Then
        let left = try await [
            one.choices.choice(of: ImageReference(title)).chosen, two.choices.choice(of: ImageReference(title)).chosen,
        ]
        XCTAssertEqual([kept] + left, ["2", "1", nil])
    }

    // MARK: At once

    func testThatTwoServersThatDecideAtOnceBothDo() async throws {
        // Given
        let members = [try await member(), try await member(), try await member()]
        // When each rejects and blocks something else at the same time
        try await withThrowingTaskGroup(of: Void.self) { [title] group in
            for (number, member) in members.enumerated() {
                group.addTask { try await member.decide(title) { $0.reject("\(number)") } }
                group.addTask { try await member.block(PerceptualHash(bits: UInt64(number) << 32)) }
            }
            try await group.waitForAll()
        }
        // Then nothing is lost
        for member in members {
            await member.waits(for: title) { $0.rejected == ["0", "1", "2"] }
            await member.waits(forBlocked: [0, 1 << 32, 2 << 32])
        }
    }

    func testThatAConditionIsCheckedAgainstTheDecisionOfAll() async throws {
        // Given a decision that one server does not know of yet
        let (one, two) = (try await member(), try await member())
        _ = try await one.decisions.decide(ImageReference(title)) { $0.pin("x") }
        let known = try await two.decision(title)
        // When it decides on the condition that there is none
        do {
            _ = try await two.decisions.decide(ImageReference(title)) { [title] decision in
                guard decision == known else { throw Failure.changedDecision(title) }
                decision.pin("y")
            }
            XCTFail("it has decided")
        } catch let error as Failure {
            XCTAssertEqual(error, .changedDecision(title))
        }
        // Then nothing has changed
        let third = try await member()
        let decision = try await third.decision(title)
        XCTAssertEqual(decision.pinned, "x")
    }

    // MARK: Failures

    func testThatADecisionThatCannotBeKeptIsNotMade() async throws {
        // Given
        let one = try await member()
        try await one.decide(title) { $0.pin("x") }
        let before = store.names.map { store[$0] }
        store.change { $0.failure = .unreachable(operation: "any", reason: "down") }
        // When
        for work in [
            { _ = try await one.decisions.decide(ImageReference(self.title)) { $0.pin("y") } },
            { try await one.decisions.forget(ImageReference(self.title)) },
            { try await one.decisions.setBlocked(true, for: self.hash) },
        ] as [() async throws -> Void] {
            do {
                try await work()
                XCTFail("it is made")
            } catch let error as Failure {
                XCTAssertEqual(error, .decisionNotKept)
            }
        }
        // Then
        let decision = try await one.decision(title)
        let blocked = try await one.choices.blocked()
        XCTAssertEqual(decision.pinned, "x")
        XCTAssertEqual(blocked, [])
        XCTAssertEqual(store.names.map { store[$0] }, before)
        XCTAssertTrue(log.all.contains { $0.contains("a decision cannot be kept in the shared store") }, "\(log.all)")
        // And later it can
        store.change { $0.failure = nil }
        try await one.decide(title) { $0.pin("y") }
        let later = try await one.decision(title)
        XCTAssertEqual(later.pinned, "y")
        await waitWhile(one.decisions.unread > 0)
    }

    func testThatAPurgeIsNotDelayedByAStoreThatIsDown() async throws {
        // Given a server that cannot read the store
        let (one, two) = (try await member(), try await member())
        await two.store("a", title)
        _ = try await one.decisions.decide(ImageReference(title)) { $0.pin("x") }
        store.change { $0.failure = .unreachable(operation: "get", reason: "down") }
        // When it is told of a decision
        try await one.tell(title)
        // Then it purges, and still serves by the old decision
        await waitWhile(two.has("a"))
        XCTAssertEqual(two.decisions.unread, 1)
        let old = try await two.decision(title)
        XCTAssertEqual(old, PosterDecision())
        await two.store("a", title)
        // And with the store it makes the decision, and purges again what it made meanwhile
        store.change { $0.failure = nil }
        await two.waits(for: title) { $0.pinned == "x" }
        await waitWhile(two.has("a"))
        await waitWhile(two.decisions.unread > 0)
    }

    func testThatAPurgeThatCannotBeToldTellsOfTheDecisionLater() async throws {
        // Given
        let (one, two) = (try await member(), try await member())
        await two.store("a", title)
        coordinator.isUnreachable = true
        // When
        do {
            try await one.decide(title) { $0.pin("x") }
            XCTFail("it was told")
        } catch {
            XCTAssertEqual(error as? Failure, UnfinishedPurge.unannounced.failure)
        }
        XCTAssertTrue(two.has("a"))
        // A read that waits ends only with a record or an error, because the engine's clock stands still: both have to notice.
        await waitWhile(log.all.count { $0.contains("cannot read the purges of other servers for now") } < 2)
        coordinator.isUnreachable = false
        // Then
        await two.waits(for: title) { $0.pinned == "x" }
        await waitWhile(two.has("a"))
    }

    func testThatAStoreWithoutConditionsLeavesDecisionsWhereTheyAre() async throws {
        // Given
        store.change { $0.ignoresConditions = true }
        let (one, two) = (try await member(), try await member())
        // When
        try await one.decide(title) { $0.pin("x") }
        try await one.block(hash)
        // Then
        await waitWhile(two.log.metrics.received < 2)
        let (here, there) = (try await one.decision(title), try await two.decision(title))
        let blocked = try await [one.choices.blocked(), two.choices.blocked()]
        XCTAssertEqual([here.pinned, there.pinned], ["x", nil])
        XCTAssertEqual(blocked, [[hash], []])
        XCTAssertEqual(store.names, [])
        XCTAssertEqual(store.calls(.get), 0)
    }

    func testThatWhatIsNoDecisionIsIgnored() async throws {
        // Given a store with decisions, one of them damaged, and with other things
        let one = try await member()
        try await one.decide(title) { $0.pin("x") }
        let name = try XCTUnwrap(store.names.first)
        let whole = try XCTUnwrap(store[name])
        try await one.decide(other) { $0.pin("y") }
        store[name] = whole.getSlice(at: 0, length: whole.readableBytes - 3)
        for (number, body) in [ByteBuffer(), ByteBuffer(string: "{}"), ByteBuffer(repeating: 7, count: 2 << 20), whole].enumerated()
        {
            store["servers/state/posters/00/\(number)"] = body
        }
        store["servers/state/blocked"] = ByteBuffer(string: "ffff")
        let values = values()
        try await values.change("posters/01/value") { _ in "[1, 2" }
        // When a server reads all
        let two = try await member()
        // Then it knows the intact one, and tells of the others
        let decisions = try await [two.decision(title), two.decision(other)]
        let blocked = try await two.choices.blocked()
        XCTAssertEqual(decisions.map(\.pinned), [nil, "y"])
        XCTAssertEqual(blocked, [])
        for part in ["posters/00/0", "posters/00/1", "posters/00/2", "posters/00/3", "posters/01/value", "state/blocked", name] {
            XCTAssertTrue(log.all.contains { $0.contains("ignored") && $0.contains(part) }, "\(part): \(log.all)")
        }
        // And both lists can be changed again
        try await one.decide(title) { $0.reject("z") }
        try await one.block(hash)
        await two.waits(for: title) { $0 == PosterDecision(pinned: "x", rejected: ["z"]) }
        await two.waits(forBlocked: [hash.bits])
    }

    // MARK: Notices

    func testThatNoticesAreReadAsTheyAreWritten() {
        for notice in [
            DecisionNotice.blocked, .poster(ImageReference(title)), .poster(ImageReference(title, ImageSelector(.backdrop))),
            .poster(ImageReference(TitleReference(source: "a", id: "b://c d"))),
        ] {
            XCTAssertEqual(DecisionNotice(notice.tag), notice)
        }
        for tag in [CacheTag.title(title), .picture(hash), CacheTag("notice:"), CacheTag("notice:poster a"), CacheTag("notice:x")] {
            XCTAssertNil(DecisionNotice(tag), "\(tag)")
        }
    }

    func testThatTooManyPendingDecisionsBecomeAll() {
        var pending = PendingDecisions()
        for number in 0..<1000 { pending.add(.poster(ImageReference(TitleReference(source: "films", id: "\(number)")))) }
        XCTAssertEqual(pending.count, 1000)
        pending.add(.blocked)
        XCTAssertEqual(pending, .all)
        pending.add(.blocked)
        XCTAssertEqual(pending, .all)
    }
}

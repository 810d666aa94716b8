import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Servers with one store and one coordinator, each with its own state and cache.
final class SharedDecisionsTests: XCTestCase {
    private let store = FakeObjectStore()
    private let coordinator = FakeCoordinator()
    private let log = LogRecorder()
    private let title = TitleReference(source: "films", id: "a 기생충")
    private let other = TitleReference(source: "films", id: "b")
    private let hash = PerceptualHash(bits: 0xFFFF)

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

    func testThatAPurgeWithoutADecisionAsksNothing() async throws {
        // Given
        let (one, two) = (try await member(), try await member())
        try await one.decide(title) { $0.pin("x") }
        await two.waits(for: title) { $0.pinned == "x" }
        await two.store("a", title)
        let before = (store.calls(.get), store.calls(.list))
        // When
        _ = try await one.cache.purge(.tag(.title(title)))
        await waitWhile(two.has("a"))
        // Then
        XCTAssertEqual(store.calls(.get), before.0)
        XCTAssertEqual(store.calls(.list), before.1)
    }

    func testThatADecisionIsMadeBeforeThePurgeIsApplied() async throws {
        // Given a server whose reading of the store waits
        let (one, two) = (try await member(), try await member())
        await two.store("a", title)
        _ = try await one.decisions.change(title) { $0.pin("x") }
        let gate = Gate()
        store.change { $0.gate = gate }
        // When the purge arrives
        _ = try await one.cache.purge([.tag(.title(title))], telling: [SharedDecisions.notice(of: title)])
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
        try await two.decisions.forget(title)
        try await two.tell(title)
        // Then
        await one.waits(for: title) { $0.isEmpty }
        let choice = try await one.choices.choice(of: title)
        XCTAssertEqual(choice, PosterChoice())
        // And a server that comes later does not bring it back
        let third = try await member()
        let decision = try await third.decision(title)
        XCTAssertEqual(decision, PosterDecision())
    }

    func testThatWhatNobodyHasDecidedIsForgottenWithoutAnObject() async throws {
        let one = try await member()
        try await one.choices.change(title) { $0.chosen = "http://a.example/1" }
        try await one.decisions.forget(title)
        let choice = try await one.choices.choice(of: title)
        XCTAssertEqual(choice, PosterChoice())
        XCTAssertEqual(store.names, [])
    }

    func testThatAnAutomaticChoiceStaysAndCostsNothing() async throws {
        // Given two servers that have chosen for themselves
        let (one, two) = (try await member(), try await member())
        let before = (store.calls(.get), store.calls(.put), store.calls(.list))
        for (member, name) in [(one, "1"), (two, "2")] { try await member.choices.change(title) { $0.chosen = name } }
        XCTAssertEqual(store.calls(.get), before.0)
        XCTAssertEqual(store.calls(.put), before.1)
        XCTAssertEqual(store.calls(.list), before.2)
        // When one rejects another candidate, and then that of the other server
        try await one.decide(title) { $0.reject("3") }
        await two.waits(for: title) { $0.rejected == ["3"] }
        let kept = try await two.choices.choice(of: title).chosen
        try await one.decide(title) { $0.reject("2") }
        await two.waits(for: title) { $0.rejected == ["2", "3"] }
        // Then
        let left = try await [one.choices.choice(of: title).chosen, two.choices.choice(of: title).chosen]
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
        _ = try await one.decisions.change(title) { $0.pin("x") }
        let known = try await two.decision(title)
        // When it decides on the condition that there is none
        do {
            _ = try await two.decisions.change(title) { [title] decision in
                guard decision == known else { throw ChangedDecisionError(title: title) }
                decision.pin("y")
            }
            XCTFail("it has decided")
        } catch is ChangedDecisionError {}
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
            { _ = try await one.decisions.change(self.title) { $0.pin("y") } }, { try await one.decisions.forget(self.title) },
            { try await one.decisions.setBlocked(true, for: self.hash) },
        ] as [() async throws -> Void] {
            do {
                try await work()
                XCTFail("it is made")
            } catch is DecisionNotKept {}
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
        _ = try await one.decisions.change(title) { $0.pin("x") }
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
            XCTAssertEqual(error as? CacheError, .unannounced)
        }
        XCTAssertTrue(two.has("a"))
        // A read that waits ends only with a record or an error: the engine's clock stands still.
        await waitWhile(!log.all.contains { $0.contains("Purges by other servers are not noticed for now") })
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
        await waitWhile(two.log.figures.received < 2)
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
        XCTAssertEqual(back.decisions.takeNewlyBlocked(), [hash])
        XCTAssertEqual(back.decisions.takeNewlyBlocked(), [])
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
        let isReady = await new.decisions.ready(within: .milliseconds(1))
        // Then
        XCTAssertFalse(isReady)
        XCTAssertEqual(new.decisions.unread, 1)
        await new.store("a", title)
        await waitWhile(!log.all.contains { $0.contains("The shared decisions about posters cannot be read for now") })
        store.change { $0.failure = nil }
        await new.waits(for: title) { $0.pinned == "x" }
        await waitWhile(new.has("a"))
        await waitWhile(new.decisions.unread > 0)
    }

    func testThatALostLogMakesServersReadAllAgain() async throws {
        // Given a decision of which the other server was not told
        let (one, two) = (try await member(), try await member())
        _ = try await one.decisions.change(title) { $0.pin("x") }
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
        _ = try await values.change(of: title, from: PosterDecision()) { $0.pin("x") }
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
        try await one.change(title) { $0.decision = PosterDecision(pinned: "1", rejected: ["a", "2"]) }
        try await two.change(title) { $0.decision = PosterDecision(pinned: "2", rejected: ["b"]) }
        try await two.change(other) { $0.decision = PosterDecision(pinned: "3") }
        try await two.change(third) { $0.chosen = "automatic" }
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
        let automatic = try await members[1].choices.choice(of: third).chosen
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

    // MARK: Notices

    func testThatNoticesAreReadAsTheyAreWritten() {
        for notice in [DecisionNotice.blocked, .poster(title), .poster(TitleReference(source: "a", id: "b://c d"))] {
            XCTAssertEqual(DecisionNotice(notice.tag), notice)
        }
        for tag in [CacheTag.title(title), .picture(hash), CacheTag("notice:"), CacheTag("notice:poster a"), CacheTag("notice:x")] {
            XCTAssertNil(DecisionNotice(tag), "\(tag)")
        }
    }

    func testThatTooManyPendingDecisionsBecomeAll() {
        var pending = PendingDecisions()
        for number in 0..<1000 { pending.add(.poster(TitleReference(source: "films", id: "\(number)"))) }
        XCTAssertEqual(pending.count, 1000)
        pending.add(.blocked)
        XCTAssertEqual(pending, .all)
        pending.add(.blocked)
        XCTAssertEqual(pending, .all)
    }

    // MARK: Servers

    private func values() -> SharedValues {
        SharedValues(SharedTier(store, SharedSettings(prefix: "servers"), clock: ManualClock().wallClock), logger: log.logger)
    }

    private func state() throws -> StateStore { try StateStore() }

    /// A server that follows the others.
    /// - Parameter before: an earlier run of the same server.
    private func member(_ before: Member? = nil, state: StateStore? = nil, waits: Bool = true) async throws -> Member {
        let member = try Member(
            state: state ?? before?.state ?? self.state(), memory: before?.memory, store: store, coordinator: coordinator,
            logger: log.logger)
        member.follower.start()
        addTeardownBlock { await member.stop() }
        let isUpToDate = await member.follower.catchUp(within: .seconds(60))
        member.decisions.start()
        guard waits else { return member }
        let isReady = await member.decisions.ready(within: .seconds(60))
        XCTAssertEqual([isUpToDate, isReady], [true, true])
        await waitWhile(member.decisions.unread > 0)
        return member
    }
}

/// One server: its choices, its cache, and its way to the others.
private struct Member: Sendable {
    let state: StateStore
    let memory: MemoryTier
    let choices: PosterChoices
    let cache: Cache
    let log: PurgeLog
    let follower: PurgeFollower
    let decisions: SharedDecisions

    init(
        state: StateStore, memory: MemoryTier?, store: FakeObjectStore, coordinator: FakeCoordinator, logger: Logger
    ) throws {
        let clock = ManualClock()
        self.state = state
        let memory = memory ?? MemoryTier(clock: clock.wallClock)
        self.memory = memory
        choices = PosterChoices(state)
        log = PurgeLog(coordinator, state: state.part("purges"), logger: logger)
        cache = Cache(memory: memory, announcer: log, logger: logger)
        let tier = SharedTier(store, SharedSettings(prefix: "servers"), clock: clock.wallClock)
        decisions = SharedDecisions(
            SharedValues(tier, logger: logger), choices: choices, cache: cache, isToldOfChanges: true, pause: .milliseconds(10),
            logger: logger)
        follower = PurgeFollower(log, cache: cache, observer: decisions, pause: .milliseconds(10))
    }

    func stop() async {
        await decisions.shutdown()
        await follower.shutdown()
    }

    func decide(_ title: TitleReference, _ body: @escaping @Sendable (inout PosterDecision) throws -> Void) async throws {
        _ = try await decisions.change(title, body)
        try await tell(title)
    }

    func tell(_ title: TitleReference) async throws {
        _ = try await cache.purge([.tag(.title(title))], telling: [SharedDecisions.notice(of: title)])
    }

    func block(_ hash: PerceptualHash) async throws {
        try await decisions.setBlocked(true, for: hash)
        _ = try await cache.purge([.tag(.picture(hash))], telling: [SharedDecisions.blockedNotice])
    }

    func decision(_ title: TitleReference) async throws -> PosterDecision { try await choices.choice(of: title).decision }

    func waits(for title: TitleReference, until condition: @Sendable (PosterDecision) -> Bool, line: UInt = #line) async {
        await waits("the decision does not come", line) { condition(try await decision(title)) }
    }

    func waits(forBlocked hashes: Set<UInt64>, line: UInt = #line) async {
        await waits("the list does not come", line) { Set(try await choices.blocked().map(\.bits)) == hashes }
    }

    private func waits(_ failure: String, _ line: UInt, until condition: () async throws -> Bool) async {
        let end = ContinuousClock.now + .seconds(60)
        do {
            while try await !condition() {
                guard ContinuousClock.now < end else { return XCTFail(failure, line: line) }
                await Task.yield()
            }
        } catch {
            XCTFail("\(error)", line: line)
        }
    }

    func store(_ name: String, _ title: TitleReference) async {
        await cache.store(.sample(name, at: ManualClock(), tags: [.title(title)]), for: CacheKey(.variant, name))
    }

    func has(_ name: String) -> Bool { cache.memory.entryNow(for: CacheKey(.variant, name)) != nil }
}

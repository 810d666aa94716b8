package import Logging
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
package import OnesheetPipeline
import Synchronization

/// The administrator's decisions, the same on all servers that share a store.
///
/// Each title's decision, and the list of blocked pictures, is a value in the store. A decision is written there first, by
/// compare-and-swap. Then it is made here, where the pipeline reads it, and the purge that follows tells the other servers to read it
/// again. The automatic choice among the candidates stays each server's own.
///
/// A server reads all decisions when it starts, and again after it may have missed a change. A store without conditional writes
/// keeps no decisions: they stay on the server that takes them.
package final class SharedDecisions: PosterDecisions {
    let values: SharedValues
    let choices: PosterChoices
    let cache: Cache
    let logger: Logger
    private let isToldOfChanges: Bool
    private let pause: Duration
    private let turns = Turns()
    private let state = Mutex(State())
    private let wake = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let firstReading = AsyncStream<Void>.makeStream()
    private let task = Mutex<Task<Void, Never>?>(nil)

    private struct State {
        /// At the start, all.
        var pending = PendingDecisions.all
        /// The decisions that are being read.
        var underWay = PendingDecisions()
        /// Whether this server has read all decisions once, in this run or before it.
        var isComplete = false
        var isServing = false
    }

    /// Prefix of the names of the decisions about titles.
    static let folder = "posters"
    /// Decisions read at once.
    static let atOnce = 8
    /// Timeout of reading the decisions that another server's purge names.
    private static let preparation = Duration.seconds(5)
    /// Without a coordinator, the time after which all decisions are read again.
    private static let refresh = Duration.seconds(600)

    /// - Parameters:
    ///   - isToldOfChanges: whether other servers announce their decisions through a coordinator.
    ///   - pause: the pause before a failed read is retried. It doubles up to 30 times its length.
    package init(
        _ values: SharedValues, choices: PosterChoices, cache: Cache, isToldOfChanges: Bool, pause: Duration = .seconds(1),
        logger: Logger
    ) {
        self.values = values
        self.choices = choices
        self.cache = cache
        self.logger = logger
        self.isToldOfChanges = isToldOfChanges
        self.pause = pause
    }

    /// Decisions that may have changed and could not be read yet; 1 if that may be any.
    package var unread: Int {
        state.withLock { state in
            var all = state.pending
            all.add(state.underWay)
            return all.count
        }
    }

    // MARK: Deciding

    /// Changes the decision about an image on all servers. A purge of the title, with its notice, has to follow.
    /// - Throws: `Failure.decisionNotKept` if the store cannot keep it, and then nothing is changed. Errors of `body`.
    package func decide(
        _ image: ImageReference, _ body: @escaping @Sendable (inout PosterDecision) throws -> Void
    ) async throws -> PosterChoice {
        try await keeping(.poster(image)) { [self] isShared in
            guard isShared else { return try await choices.decide(image, body) }
            let decision = try await values.change(of: image, from: try await choices.decision(of: image), body)
            return try await choices.apply(decision, for: image).choice
        }
    }

    /// Removes the decision about an image on all servers, and the choice here. A purge of the title has to follow.
    /// - Throws: as `decide` does.
    package func forget(_ image: ImageReference) async throws {
        try await keeping(.poster(image)) { [self] isShared in
            if isShared {
                _ = try await values.change(of: image, from: try await choices.decision(of: image)) { $0 = PosterDecision() }
            }
            try await choices.forget(image)
        }
    }

    /// Blocks or unblocks a picture on all servers. A purge of the picture, with its notice, has to follow.
    /// - Throws: as `decide` does.
    package func setBlocked(_ isBlocked: Bool, for hash: PerceptualHash) async throws {
        try await keeping(.blocked) { [self] isShared in
            guard isShared else { return try await choices.setBlocked(isBlocked, for: hash) }
            let known = try await choices.blocked()
            let text = try await values.change(DecisionNotice.blocked.name) { text in
                BlockedPictures(BlockedPictures(text: text) ?? BlockedPictures(known), blocks: isBlocked, hash).text
            }
            let (added, _) = try await choices.apply(blocked: (BlockedPictures(text: text) ?? BlockedPictures()).hashes)
            // This server did not know yet that others have blocked these.
            try await choices.addSearches(for: added.filter { $0 != hash })
        }
    }

    /// Makes one decision after the other, also if its client leaves.
    private func keeping<Answer: Sendable>(
        _ notice: DecisionNotice, _ body: @escaping @Sendable (_ isShared: Bool) async throws -> Answer
    ) async throws -> Answer {
        do {
            let isShared = try await values.isUsable()
            return try await turns.run(notice.name) { try await body(isShared) }
        } catch let error as SharedValueError {
            // A write whose answer was lost may have arrived.
            add([notice])
            logger.warning("a decision cannot be kept in the shared store, so it is not made: \(error)")
            throw Failure.decisionNotKept
        } catch {
            // The store may have it already, so it is read again.
            add([notice])
            throw error
        }
    }

    // MARK: Following

    /// Starts to read decisions, all of them first, until `shutdown`. The purges that were missed should be known before, because each of
    /// their decisions is read again afterwards.
    package func start() {
        task.withLock { task in
            guard task == nil else { return }
            wake.continuation.yield()
            task = Task { [self] in await follow() }
        }
    }

    /// Waits until this server knows all decisions, if it has never known them. Afterwards it counts as serving, whatever it knows.
    /// - Returns: `false` if `limit` came first.
    package func waitBeforeServing(upTo limit: Duration) async -> Bool {
        defer { state.withLock { $0.isServing = true } }
        if await hasBeenComplete() { return true }
        return await firstReading.stream.ends(within: limit)
    }

    /// Stops reading.
    package func shutdown() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    private func follow() async {
        let refreshing: Task<Void, Never>? =
            isToldOfChanges
            ? nil
            : Task { [self] in
                while await sleepUnlessCancelled(for: Self.refresh) { add([DecisionNotice](), isAll: true) }
            }
        defer { refreshing?.cancel() }
        for await _ in wake.stream {
            let pauses = Backoff(from: pause, upTo: pause * 30)
            var backoff = pauses
            while case let work = state.withLock({ $0.pending }), !work.isEmpty, !Task.isCancelled {
                do {
                    try await read(work)
                    backoff = pauses
                } catch {
                    if Task.isCancelled { return }
                    logger.warning("cannot read the shared decisions about posters for now: \(error)")
                    _ = await sleepUnlessCancelled(for: backoff.next())
                }
            }
        }
    }

    /// Reads the pending decisions. Those that cannot be read stay pending.
    private func read(_ work: PendingDecisions) async throws {
        // Decisions that become pending from here on are read again.
        state.withLock { ($0.pending, $0.underWay) = (PendingDecisions(), work) }
        defer { state.withLock { $0.underWay = PendingDecisions() } }
        do {
            if try await values.isUsable() {
                let isKnown = await hasBeenComplete()
                let sync = DecisionReading(self, joins: !isKnown)
                let changes = work.isAll ? await sync.readAll() : await sync.read(work.elements)
                // Decisions that were applied here need their purge, even if the others could not be read.
                try await purge(changes, isKnown: isKnown)
                if let failure = changes.failure { throw failure }
                if work.isAll {
                    try await choices.noteShared()
                    state.withLock { $0.isComplete = true }
                }
            }
            if work.isAll { firstReading.continuation.finish() }
        } catch {
            state.withLock { $0.pending.add(work) }
            throw error
        }
    }

    /// Purges the entries that changed decisions affect.
    /// - Parameter isKnown: whether this server knew all decisions before. If not, its own entries may be made without them.
    private func purge(_ changes: DecisionReading.Changes, isKnown: Bool) async throws {
        let isServing = state.withLock { $0.isServing }
        let told = changes.shared + (isKnown ? changes.local : [])
        for part in told.split(by: 200) { try await purge(part, on: .allServers(notices: part.map(\.notice.tag))) }
        for part in (isKnown ? [] : changes.local).split(by: 200) {
            try await purge(part, on: isServing ? .allServers() : .thisServer)
        }
    }

    private func purge(_ changes: [DecisionReading.Change], on reach: PurgeReach) async throws {
        try await cache.purgeRetrying(changes.flatMap(\.selections), on: reach, pause: pause) { error in
            logger.error("a purge after a decision cannot be done yet: \(error)")
        }
    }

    private func hasBeenComplete() async -> Bool {
        if state.withLock({ $0.isComplete }) { return true }
        do {
            guard try await choices.isShared() else { return false }
        } catch {
            logger.warning("reading all shared decisions, because the state does not say whether they were read: \(error)")
            return false
        }
        state.withLock { $0.isComplete = true }
        return true
    }

    private func add(_ notices: some Sequence<DecisionNotice>, isAll: Bool = false) {
        state.withLock { state in
            if isAll { state.pending.addAll() }
            for notice in notices { state.pending.add(notice) }
        }
        wake.continuation.yield()
    }

    /// Does `work` after earlier work on the decision with this name.
    func inTurn<Answer: Sendable>(
        _ name: String, _ work: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer { try await turns.run(name, work) }
}

extension SharedDecisions {
    /// Reads the decisions that a purge of another server names, before it is applied here. Those that cannot be read in time are read later,
    /// and their titles purged again.
    /// - Parameters:
    ///   - notices: the tags that the other servers announce.
    ///   - isAll: whether everything was purged, and with it any notice may have been lost.
    package func prepare(for notices: [CacheTag], isAll: Bool) async {
        let known = Set(notices.compactMap { DecisionNotice($0) })
        // A server that does not know all decisions reads them all anyway.
        guard !isAll, await hasBeenComplete() else { return add(known, isAll: isAll) }
        guard !known.isEmpty else { return }
        let reading = DecisionReading(self, joins: false, isPatient: false)
        let end = ContinuousClock.now + Self.preparation
        do {
            guard try await values.isUsable() else { return }
            for part in Array(known).split(by: Self.atOnce) {
                guard ContinuousClock.now < end else {
                    add(part)
                    continue
                }
                let changes = await reading.read(part)
                if let failure = changes.failure {
                    logger.warning("a decision of another server cannot be read yet: \(failure)")
                    add(part)
                }
            }
        } catch {
            logger.warning("decisions of another server cannot be read yet: \(error)")
            add(known)
        }
    }
}

extension Failure {
    /// The store of several servers cannot keep a decision, so it was not made.
    static let decisionNotKept = Failure(
        blame: .server, status: .unavailable, title: "Decision not kept",
        message: "the decision cannot be kept in the store that the servers share, so nothing is changed; "
            + "the server's log has the reason",
        retry: .after(2))
}

extension Array {
    /// Parts of at most `count` elements.
    func split(by count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}

/// Serializes the work on each decision, on its own threads, because the work parses objects of a store. Work continues if its caller
/// leaves.
private final class Turns: Sendable {
    private struct Last {
        let number: Int
        let task: Task<Void, Never>
    }

    private struct State {
        var number = 0
        var last: [String: Last] = [:]
    }

    private let state = Mutex(State())
    private let executor = BoundedExecutor(threads: 2)

    func run<Answer: Sendable>(
        _ name: String, _ work: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let (task, number) = state.withLock { state in
            let before = state.last[name]?.task
            let task = Task(executorPreference: executor) {
                await before?.value
                return try await work()
            }
            state.number += 1
            state.last[name] = Last(number: state.number, task: Task { _ = await task.result })
            return (task, state.number)
        }
        defer { state.withLock { if $0.last[name]?.number == number { $0.last[name] = nil } } }
        return try await task.value
    }
}

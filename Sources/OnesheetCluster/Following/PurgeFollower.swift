import Logging
package import OnesheetCache
import OnesheetCore
import Synchronization

/// Reads the log of purges and applies the purges of other processes to the tiers of this server.
///
/// The position in the log is stored, so that a server that was away applies what it missed before it serves its disk. If the log
/// was trimmed behind that position, or the coordinator has lost it, everything counts as purged.
package final class PurgeFollower: Sendable {
    private let log: PurgeLog
    private let cache: Cache
    private let decisions: SharedDecisions?
    private let pause: Duration
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let caughtUp = AsyncStream<Void>.makeStream()
    /// Parses records: they are bytes from outside.
    private let executor = BoundedExecutor(threads: 1)

    /// The most records of one read.
    private static let most = 500
    /// How long one read waits for a record, in milliseconds.
    private static let wait = 1000

    /// The longest pause between two attempts to send queued purges. An engine may have appended them each time without an answer.
    private static let longestPause = Duration.seconds(60)

    /// The follower's state between two steps.
    private struct Place {
        /// The position up to which the log is read; `nil` if it was never read.
        var progress: PurgeStamp?
        /// The stored position up to which purges are applied.
        var stored: PurgeStamp?
        /// The purges that are read and not applied yet, and the number of their records.
        var pending = PurgeScope()
        var received = 0
        /// Whether this server is prepared for the pending purges.
        var isPrepared = false
        /// The time of the next attempt to send queued purges, and the pauses after it. `nil` if the last one succeeded.
        var nextSending: (time: ContinuousClock.Instant, backoff: Backoff)?
        /// The part of the log up to here is only noted, because it was applied before the start. `nil` if there is no such part.
        var known: LogPosition?
        /// The position up to which that part is noted.
        var noted = LogPosition.start
        /// A loss of records that the log does not state yet. It needs a record that makes all older entries invalid.
        var loss: String?
        var isUnreachable = false

        var position: LogPosition { progress?.position ?? .start }
    }

    /// - Parameters:
    ///   - decisions: reads the decision that led to a purge before that is applied here.
    ///   - pause: the time between two attempts to reach the coordinator, or to remove entries.
    package init(_ log: PurgeLog, cache: Cache, decisions: SharedDecisions? = nil, pause: Duration = .seconds(1)) {
        self.log = log
        self.cache = cache
        self.decisions = decisions
        self.pause = pause
    }

    /// Starts to follow the log, until `shutdown`.
    package func start() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task(executorPreference: executor) { await self.follow() }
        }
    }

    /// Waits until every purge that was in the log at the start is applied here.
    /// - Returns: `false` if `limit` came first.
    package func catchUp(within limit: Duration) async -> Bool {
        await caughtUp.stream.ends(within: limit)
    }

    /// Stops following. No purge is applied afterwards.
    package func shutdown() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    private var logger: Logger { log.logger }

    private func follow() async {
        var place = await begin()
        repeat {
            do {
                try await step(&place)
                note(reached: true, &place)
            } catch let error as CoordinatorError where !Task.isCancelled {
                note(reached: false, &place, error)
                _ = await sleepUnlessCancelled(for: pause)
            } catch  where !Task.isCancelled {
                logger.error("cannot follow the log of purges for now: \(error)")
                _ = await sleepUnlessCancelled(for: pause)
            } catch {
                return
            }
        } while !Task.isCancelled
    }

    /// The stored position.
    private func begin() async -> Place {
        do {
            guard let progress = try await log.state.progress() else { return Place() }
            log.contents.withLock { contents in
                contents.applied = progress
                contents.epoch = progress.epoch
            }
            return Place(progress: progress, stored: progress, known: progress.position)
        } catch {
            logger.warning("cannot read the position in the log of purges, so all purges are applied again: \(error)")
            return Place()
        }
    }

    /// Sends queued purges, then reads one part of the log and applies it. A failed send or purge blocks neither the other nor the
    /// reading.
    private func step(_ place: inout Place) async throws {
        await sendOutbox(&place)
        // While it waits for a record, the follower does nothing else. The table is complete once a read has reached the end of the log.
        let waits = place.pending.isEmpty && !place.isUnreachable && log.contents.withLock { $0.isComplete && $0.unsent.isEmpty }
        let page = try await log.coordinator.read(
            PurgeLog.name, after: place.position, of: place.progress?.epoch, limit: Self.most, waiting: waits ? Self.wait : 0)
        if let progress = place.progress, progress.epoch != page.epoch || progress.position > page.end {
            restart(&place, at: page)
            // A tier that fails now gets real time to recover before the next attempt.
            guard await applyPending(&place) else { return try await Task.sleep(for: pause) }
            return
        }
        note(page, &place)
        let isApplied = await applyPending(&place)
        guard page.records.isEmpty || place.position >= page.end else { return }
        if isApplied {
            log.contents.withLock { $0.upToDateAt = .now }
            caughtUp.continuation.finish()
        }
        try await complete(&place, epoch: page.epoch)
        // Failed work is retried after a pause in real time, because tiers and the coordinator do not follow an injected clock.
        if !isApplied || log.contents.withLock({ !$0.unsent.isEmpty }) { try await Task.sleep(for: pause) }
    }

    /// The coordinator has lost the log or its end, and with it purges that some servers do not know.
    private func restart(_ place: inout Place, at page: LogPage) {
        logger.warning("the coordinator has lost purges from its log, so everything counts as purged")
        log.contents.withLock { contents in
            contents.isComplete = false
            contents.table = PurgeTable()
            contents.epoch = page.epoch
        }
        let known = place.progress?.epoch ?? ""
        place.pending.add(.all)
        place.isPrepared = false
        place.progress = PurgeStamp(epoch: page.epoch, position: .start)
        (place.known, place.noted) = (nil, .start)
        // One record for each epoch, however many servers notice the loss. None if only the position of this server is unreadable.
        let end = "\(page.end.milliseconds)-\(page.end.number)"
        place.loss = known.isEmpty ? nil : known != page.epoch ? page.epoch : "\(page.epoch) at \(end)"
    }

    /// Notes the records of `page`.
    private func note(_ page: LogPage, _ place: inout Place) {
        if !page.isComplete {
            logger.warning("the log of purges was trimmed before this server could read it, so everything counts as purged")
            place.pending.add(.all)
            place.isPrepared = false
        }
        let records = page.records.map { ($0.position, PurgeRecord($0.text)) }
        for (_, record) in records {
            if place.loss != nil, record.loss == place.loss { place.loss = nil }
            guard record.process != log.process else { continue }
            place.pending.add(record.scope)
            (place.received, place.isPrepared) = (place.received + 1, false)
        }
        // The shared tier's entries are invalid before the local ones are removed, so that none is found again meanwhile.
        log.contents.withLock { contents in
            contents.epoch = page.epoch
            if !page.isComplete { contents.table.raise(to: page.records.first?.position ?? page.end) }
            for (position, record) in records { contents.table.note(record.scope, at: position) }
        }
        // If nothing is left of a trimmed log, its end is reached.
        let position = page.records.last?.position ?? (page.isComplete ? place.position : page.end)
        place.progress = PurgeStamp(epoch: page.epoch, position: position)
    }

    /// Attempts once to apply the pending records.
    /// - Returns: whether all of them are applied.
    private func applyPending(_ place: inout Place) async -> Bool {
        guard let progress = place.progress else { return true }
        let pending = place.pending
        // Entries that are made until the purge is applied have an older stamp, and are invalid too.
        if !place.isPrepared, pending.isAll || !pending.notices.isEmpty {
            await decisions?.prepare(for: pending.notices, isAll: pending.isAll)
        }
        place.isPrepared = true
        if !place.pending.selections.isEmpty {
            do {
                _ = try await cache.purge(place.pending.selections, on: .thisServer)
            } catch {
                logger.warning("cannot apply another server's purge yet; retrying: \(error)")
                return false
            }
        }
        if progress != place.stored {
            await store(progress)
            place.stored = progress
        }
        // From here on, entries made here are newer than these purges.
        let received = place.received
        let isNews = log.contents.withLock { contents in
            defer { contents.applied = progress }
            contents.received += received
            return contents.applied != progress
        }
        (place.pending, place.received, place.isPrepared) = (PurgeScope(), 0, false)
        // The generation of the shared tier has changed with it.
        if isNews { await cache.invalidations.check() }
        return true
    }

    /// Completes the table with the part of the log that was applied before the start.
    private func complete(_ place: inout Place, epoch: String) async throws {
        while let known = place.known {
            let page = try await log.coordinator.read(
                PurgeLog.name, after: place.noted, of: epoch, limit: Self.most, waiting: 0)
            // The next step notices it.
            guard page.epoch == epoch else { return }
            let records = page.records.map { ($0.position, PurgeRecord($0.text)) }
            log.contents.withLock { contents in
                if !page.isComplete { contents.table.raise(to: page.records.first?.position ?? page.end) }
                for (position, record) in records { contents.table.note(record.scope, at: position) }
            }
            place.noted = page.records.last?.position ?? known
            if place.noted >= known { place.known = nil }
        }
        if let loss = place.loss {
            // Another server may write the same at the same time, which does no harm.
            try await log.append(.all, by: log.process, after: loss)
            place.loss = nil
        }
        log.contents.withLock { $0.isComplete = true }
    }

    private func store(_ progress: PurgeStamp) async {
        do {
            try await log.state.set(progress)
        } catch {
            // A failure costs only repeated purges after a restart.
            logger.warning("cannot store the position in the log of purges: \(error)")
        }
    }

    /// Sends queued purges to the other servers, if it is time for the next attempt.
    private func sendOutbox(_ place: inout Place) async {
        // A read shows first whether the coordinator is there again.
        guard !place.isUnreachable, place.nextSending.map({ $0.time <= .now }) ?? true else { return }
        do {
            try await sendOutbox()
            place.nextSending = nil
        } catch {
            guard !Task.isCancelled else { return }
            if place.nextSending == nil { logger.warning("queued purges cannot be sent yet: \(error)") }
            var backoff = place.nextSending?.backoff ?? Backoff(from: pause, upTo: Self.longestPause)
            place.nextSending = (.now + backoff.next(), backoff)
        }
    }

    private func sendOutbox() async throws {
        let outbox = try await log.state.outbox()
        let (scope, unsaved) = log.contents.withLock { contents in
            contents.outbox = outbox
            return (contents.unsent, contents.unsaved)
        }
        guard !scope.isEmpty else { return }
        // Another process may have put it there, and this one may have to do it too.
        try await log.append(scope, by: "")
        let rest = try await log.state.changeOutbox { $0.remove(outbox) }
        log.contents.withLock { contents in
            contents.outbox = rest
            if contents.unsaved == unsaved { contents.unsaved = PurgeScope() }
        }
        logger.notice("queued purges are sent")
    }

    private func note(reached: Bool, _ place: inout Place, _ error: CoordinatorError? = nil) {
        guard place.isUnreachable == reached else { return }
        place.isUnreachable = !reached
        if reached {
            place.nextSending = nil
            logger.notice("the log of purges is read again")
        } else if let error {
            logger.warning("cannot read the purges of other servers for now: \(error)")
        }
    }
}

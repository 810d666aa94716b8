internal import Logging
internal import OnesheetCore
internal import Synchronization

/// Reads the log of purges and applies the purges of other processes to the tiers of this server.
///
/// The position in the log is stored, so that a server that was away applies what it missed before it serves its disk. If the log
/// was trimmed behind that position, or the coordinator has lost it, everything counts as purged.
package final class PurgeFollower: Sendable {
    private let log: PurgeLog
    private let cache: Cache
    private let observer: (any PurgeObserver)?
    private let pause: Duration
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let caughtUp = AsyncStream<Void>.makeStream()
    /// Parses records: they are bytes from outside.
    private let executor = BoundedExecutor(threads: 1)

    /// The most records of one read.
    private static let most = 500
    /// How long one read waits for a record, in milliseconds.
    private static let wait = 1000

    /// The longest time between two attempts to send what is kept. An engine may have appended it each time and not said so.
    private static let longestPause = Duration.seconds(60)

    /// What the follower knows between two steps.
    private struct Place {
        /// How far the log is read; `nil` if it was never read.
        var progress: PurgeState.Progress?
        /// How far it is applied, as the state says.
        var stored: PurgeState.Progress?
        /// The purges that are read and cannot be done here yet, and the number of their records.
        var pending = PurgeScope()
        var received = 0
        /// Whether this server is prepared for what is pending.
        var isPrepared = false
        /// What is kept is not sent before this time, and the time between the next two attempts.
        var nextSending: ContinuousClock.Instant?
        var sendingPause = Duration.zero
        /// The part of the log up to here is only noted, because it was applied before the start. `nil` if there is no such part.
        var known: LogPosition?
        /// How far that part is noted.
        var noted = LogPosition.start
        /// The loss of records that the log does not tell of yet. It needs a record that makes all older entries invalid.
        var loss: String?
        var isUnreachable = false

        var position: LogPosition { progress?.position ?? .start }
    }

    /// - Parameters:
    ///   - observer: prepares this server for each purge of another one.
    ///   - pause: the time between two attempts to reach the coordinator, or to remove entries.
    package init(_ log: PurgeLog, cache: Cache, observer: (any PurgeObserver)? = nil, pause: Duration = .seconds(1)) {
        (self.log, self.cache, self.observer, self.pause) = (log, cache, observer, pause)
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
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [caughtUp] in await caughtUp.stream.first { _ in true } == nil && !Task.isCancelled }
            group.addTask {
                _ = await sleepUnlessCancelled(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
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
                logger.error("The log of purges cannot be followed for now: \(error)")
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
                contents.applied = PurgeStamp(epoch: progress.epoch, position: progress.position)
                contents.epoch = progress.epoch
            }
            return Place(progress: progress, stored: progress, known: progress.position)
        } catch {
            logger.warning("The position in the log of purges cannot be read, so all purges are applied again: \(error)")
            return Place()
        }
    }

    /// Sends what is kept, then reads one part of the log and applies it. What cannot be sent or done stops neither the other nor the
    /// reading.
    private func step(_ place: inout Place) async throws {
        await sendOutbox(&place)
        // Who waits for a record does nothing else. And the table is complete once a read came to the end of the log.
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
        // What failed is tried again after a pause in real time, because tiers and coordinator do not follow an injected clock.
        if !isApplied || log.contents.withLock({ !$0.unsent.isEmpty }) { try await Task.sleep(for: pause) }
    }

    /// The coordinator has lost the log or its end, and with it purges that some servers do not know.
    private func restart(_ place: inout Place, at page: LogPage) {
        logger.warning("The coordinator has lost purges from its log, so everything counts as purged")
        log.contents.withLock { contents in
            contents.isComplete = false
            contents.table = PurgeTable()
            contents.epoch = page.epoch
        }
        let known = place.progress?.epoch ?? ""
        place.pending.add(.all)
        place.isPrepared = false
        place.progress = PurgeState.Progress(epoch: page.epoch, position: .start)
        (place.known, place.noted) = (nil, .start)
        // One record for each epoch, however many servers notice the loss. None if only the position of this server is unreadable.
        let end = "\(page.end.milliseconds)-\(page.end.number)"
        place.loss = known.isEmpty ? nil : known != page.epoch ? page.epoch : "\(page.epoch) at \(end)"
    }

    /// Notes the records of `page`.
    private func note(_ page: LogPage, _ place: inout Place) {
        if !page.isComplete {
            logger.warning("The log of purges was trimmed before this server could read it, so everything counts as purged")
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
        place.progress = PurgeState.Progress(epoch: page.epoch, position: position)
    }

    /// Does what was read, as far as it is not done yet: one attempt.
    /// - Returns: whether all that was read is done.
    private func applyPending(_ place: inout Place) async -> Bool {
        guard let progress = place.progress else { return true }
        let pending = place.pending
        // Entries that are made until the purge is applied have an older stamp, and are invalid too.
        if !place.isPrepared, pending.isAll || !pending.notices.isEmpty {
            await observer?.prepare(for: pending.notices, isAll: pending.isAll)
        }
        place.isPrepared = true
        if !place.pending.selections.isEmpty {
            do {
                _ = try await cache.applyPurge(place.pending.selections)
            } catch {
                logger.warning("A purge of another server cannot be done yet: \(error)")
                return false
            }
        }
        // From here on, entries made here are newer than these purges.
        let (stamp, received) = (PurgeStamp(epoch: progress.epoch, position: progress.position), place.received)
        let isNews = log.contents.withLock { contents in
            defer { contents.applied = stamp }
            contents.received += received
            return contents.applied != stamp
        }
        (place.pending, place.received, place.isPrepared) = (PurgeScope(), 0, false)
        // The generation of the shared tier has changed with it.
        if isNews { await cache.invalidations.check() }
        if progress != place.stored {
            await store(progress)
            place.stored = progress
        }
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

    private func store(_ progress: PurgeState.Progress) async {
        do {
            try await log.state.set(progress)
        } catch {
            // A failure costs only repeated purges after a restart.
            logger.warning("The position in the log of purges cannot be stored: \(error)")
        }
    }

    /// Tells the others of the purges that were kept for them, if it is time for that.
    private func sendOutbox(_ place: inout Place) async {
        // A read shows first whether the coordinator is there again.
        guard !place.isUnreachable, place.nextSending.map({ $0 <= .now }) ?? true else { return }
        do {
            try await sendOutbox()
            place.nextSending = nil
        } catch {
            guard !Task.isCancelled else { return }
            if place.nextSending == nil {
                logger.warning("The other servers cannot be told yet of the purges that are kept for them: \(error)")
                place.sendingPause = pause
            }
            place.nextSending = .now + place.sendingPause
            place.sendingPause = min(place.sendingPause * 2, Self.longestPause)
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
        logger.notice("The other servers are told of the purges that were kept for them")
    }

    private func note(reached: Bool, _ place: inout Place, _ error: CoordinatorError? = nil) {
        guard place.isUnreachable == reached else { return }
        place.isUnreachable = !reached
        if reached {
            place.nextSending = nil
            logger.notice("The log of purges is read again")
        } else if let error {
            logger.warning("Purges by other servers are not noticed for now: \(error)")
        }
    }
}

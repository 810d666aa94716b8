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

    /// What the follower knows between two steps.
    private struct Place {
        /// `nil` if the log was never read.
        var progress: PurgeState.Progress?
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
            log.contents.withLock { $0.applied = progress.position }
            return Place(progress: progress, known: progress.position)
        } catch {
            logger.warning("The position in the log of purges cannot be read, so all purges are applied again: \(error)")
            return Place()
        }
    }

    /// Sends what is kept, then reads one part of the log and applies it.
    private func step(_ place: inout Place) async throws {
        try await sendOutbox()
        // The table is complete once a read came to the end of the log.
        let wait = log.contents.withLock { $0.isComplete } ? Self.wait : 0
        let page = try await log.coordinator.read(PurgeLog.name, after: place.position, limit: Self.most, waiting: wait)
        if let progress = place.progress, progress.epoch != page.epoch || progress.position > page.end {
            return try await restart(&place, at: page)
        }
        // If nothing is left of a trimmed log, its end is reached.
        let position = page.records.last?.position ?? (page.isComplete ? place.position : page.end)
        try await apply(page, upTo: position, &place)
        let progress = PurgeState.Progress(epoch: page.epoch, position: position)
        if progress != place.progress {
            await store(progress)
            place.progress = progress
        }
        guard page.records.isEmpty || position >= page.end else { return }
        log.contents.withLock { $0.upToDateAt = .now }
        caughtUp.continuation.finish()
        try await complete(&place, epoch: page.epoch)
    }

    /// The coordinator has lost the log or its end, and with it purges that some servers do not know.
    private func restart(_ place: inout Place, at page: LogPage) async throws {
        logger.warning("The coordinator has lost purges from its log, so everything counts as purged")
        log.contents.withLock { contents in
            contents.isComplete = false
            contents.table = PurgeTable()
        }
        await observer?.prepare(for: [], isAll: true)
        try await remove(.all)
        let progress = PurgeState.Progress(epoch: page.epoch, position: .start)
        await store(progress)
        log.contents.withLock { $0.applied = .start }
        place = Place(
            progress: progress, loss: "\(page.epoch) at \(page.end.milliseconds)-\(page.end.number)",
            isUnreachable: place.isUnreachable)
    }

    /// Applies the records of `page`, which ends at `position`.
    private func apply(_ page: LogPage, upTo position: LogPosition, _ place: inout Place) async throws {
        var scope = PurgeScope()
        var received = 0
        if !page.isComplete {
            logger.warning("The log of purges was trimmed before this server could read it, so everything counts as purged")
            scope.add(.all)
        }
        let records = page.records.map { ($0.position, PurgeRecord($0.text)) }
        for (_, record) in records {
            if place.loss != nil, record.loss == place.loss { place.loss = nil }
            guard record.process != log.process else { continue }
            scope.add(record.scope)
            received += 1
        }
        // The shared tier's entries are invalid before the local ones are removed, so that none is found again meanwhile.
        log.contents.withLock { contents in
            if !page.isComplete { contents.table.raise(to: page.records.first?.position ?? page.end) }
            for (position, record) in records { contents.table.note(record.scope, at: position) }
        }
        // Entries that are made until the purge is applied have an older stamp, and are invalid too.
        if scope.isAll || !scope.notices.isEmpty { await observer?.prepare(for: scope.notices, isAll: scope.isAll) }
        if !scope.selections.isEmpty { try await remove(scope) }
        // From here on, entries made here are newer than these purges.
        log.contents.withLock { contents in
            contents.received += received
            contents.applied = max(contents.applied, position)
        }
        // The generation of the shared tier has changed with it.
        if !page.records.isEmpty { await cache.invalidations.check() }
    }

    /// Completes the table with the part of the log that was applied before the start.
    private func complete(_ place: inout Place, epoch: String) async throws {
        while let known = place.known {
            let page = try await log.coordinator.read(PurgeLog.name, after: place.noted, limit: Self.most, waiting: 0)
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

    /// Removes the entries of `scope` from the tiers of this server. Does not end before that is done, or cancelled.
    private func remove(_ scope: PurgeScope) async throws {
        while true {
            do {
                _ = try await cache.applyPurge(scope.selections)
                return
            } catch {
                logger.warning("A purge of another server cannot be done yet: \(error)")
                // Also ends a cancelled task, which could try for ever.
                try await Task.sleep(for: pause)
            }
        }
    }

    private func store(_ progress: PurgeState.Progress) async {
        do {
            try await log.state.set(progress)
        } catch {
            // A failure costs only repeated purges after a restart.
            logger.warning("The position in the log of purges cannot be stored: \(error)")
        }
    }

    /// Tells the others of the purges that were kept for them.
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
            logger.notice("The log of purges is read again")
        } else if let error {
            logger.warning("Purges by other servers are not noticed for now: \(error)")
        }
    }
}

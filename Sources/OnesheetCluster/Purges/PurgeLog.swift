import FoundationEssentials
package import Logging
import OnesheetCache
package import OnesheetCore
import Synchronization

/// The purges of all servers, as a log of the coordinator that each server reads.
///
/// A purge is done here first and then appended. `PurgeFollower` reads the records of the others and applies them. An entry of the
/// shared tier has the position of the newest record that its server had applied when work on the entry began. A newer matching purge
/// invalidates the entry.
package final class PurgeLog: Sendable {
    /// The name of the log.
    static let name = "purges"

    /// Metrics for operators.
    package struct Metrics: Sendable, Equatable {
        /// The time since the log was last read to its end and applied; a little more than a second if all is well.
        package var lag: Duration
        /// Purges by other processes that were applied here.
        package var received: Int
        /// The parts of queued purges: tags, or one for everything.
        package var outbox: Int
    }

    struct Contents {
        var table = PurgeTable()
        /// The epoch of the log that the table is of; empty before it was read.
        var epoch = ""
        /// Whether the table has all purges of the log. Before, no entry of the shared tier is known to be valid.
        var isComplete = false
        /// The newest record that is applied to the tiers here.
        var applied = PurgeStamp(epoch: "", position: .start)
        /// The purges by this process that are not in the log yet, by a number.
        var underWay: [Int: PurgeScope] = [:]
        /// The purges that the state keeps until they can be sent, and those that it could not store.
        var outbox = PurgeState.Outbox()
        var unsaved = PurgeScope()
        var received = 0
        var upToDateAt = ContinuousClock.now
        private var lastNumber = 0

        /// - Returns: the number of the purge in `underWay`.
        mutating func begin(_ scope: PurgeScope) -> Int {
            lastNumber += 1
            underWay[lastNumber] = scope
            return lastNumber
        }

        /// The purges that are not sent yet.
        var unsent: PurgeScope {
            if outbox.isEmpty { return unsaved }
            var scope = outbox.scope
            scope.add(unsaved)
            return scope
        }

        func isPurged(_ stamp: PurgeStamp?, tags: [CacheTag]) -> Bool {
            guard isComplete else { return true }
            // The log that was lost may have had any purge.
            if let stamp, stamp.epoch != epoch { return true }
            if !unsent.isEmpty, unsent.concerns(tags) { return true }
            return underWay.values.contains { $0.concerns(tags) } || table.isPurged(stamp?.position ?? .start, tags: tags)
        }
    }

    let coordinator: any Coordinator
    let state: PurgeState
    /// This process. A restarted server is another one: it may apply its own purges again, which does no harm.
    package let process = UUID().uuidString
    let logger: Logger
    let contents = Mutex(Contents())

    /// - Parameters:
    ///   - coordinator: ends each call in time.
    ///   - state: values of this server that survive a restart.
    package init(_ coordinator: any Coordinator, state: any KeyValueState, logger: Logger) {
        self.coordinator = coordinator
        self.state = PurgeState(values: state)
        self.logger = logger
    }

    /// The stamp of an entry whose making begins now. It changes with every purge.
    package var now: PurgeStamp { contents.withLock { $0.applied } }

    /// Whether a purge came after the stamp that concerns an entry with these tags, or may have come, because the stamp is of a log that is
    /// lost. Answers from memory: the shared tier asks for every entry that it reads and stores.
    /// - Parameter stamp: the value of `now` when the making of the entry began; `nil` if there was no log then.
    package func isPurged(_ stamp: PurgeStamp?, tags: [CacheTag]) -> Bool {
        contents.withLock { $0.isPurged(stamp, tags: tags) }
    }

    package var metrics: Metrics {
        contents.withLock { contents in
            Metrics(lag: .now - contents.upToDateAt, received: contents.received, outbox: contents.unsent.count)
        }
    }

    /// Does a purge by this process and announces it, as `Cluster.announcing` says. It is under way until it is in the log or in the outbox.
    func announcing(_ selections: [CacheSelection], _ purge: () async -> Bool) async -> Bool {
        let scope = PurgeScope(of: selections)
        let number = contents.withLock { $0.begin(scope) }
        defer { contents.withLock { $0.underWay[number] = nil } }
        let isDoneHere = await purge()
        // In its own task: a purge must be sent or queued even if its client leaves or the server stops.
        return await Task { [self] in
            do {
                try await append(scope, by: isDoneHere ? process : "")
                return true
            } catch {
                logger.warning("a purge is queued because it cannot be sent to the other servers yet: \(error)")
                await keep(scope)
                return false
            }
        }.value
    }

    /// Appends a purge to the log, and notes it.
    func append(_ scope: PurgeScope, by process: String, after loss: String? = nil) async throws {
        for text in try PurgeRecord.texts(of: scope, by: process, after: loss) {
            let position = try await coordinator.append(text, to: Self.name)
            contents.withLock { $0.table.note(PurgeRecord(text).scope, at: position) }
        }
    }

    /// Keeps a purge until it can be sent.
    private func keep(_ scope: PurgeScope) async {
        do {
            let outbox = try await state.changeOutbox { $0.add(scope) }
            contents.withLock { $0.outbox = outbox }
        } catch {
            contents.withLock { $0.unsaved.add(scope) }
            logger.error("an unsent purge could not be saved; it is lost if the server stops now: \(error)")
        }
    }
}

import FoundationEssentials
import Logging
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle
import Synchronization

/// Runs the configured prefetch schedule. A run that was missed while the server was down starts when the server is up again.
struct PrefetchSchedule: Service {
    /// What the configuration in effect says.
    struct Plan {
        /// The lines of the schedule.
        let lines: [PrefetchConfiguration]
        let options: ImageOptions
        let prefetcher: Prefetcher
    }

    private let ledger: PrefetchLedger
    private let turns: ScheduleTurns?
    private let clock: WallClock
    private let logger: Logger
    private let plan: @Sendable () -> Plan
    private let retries = Retries()

    /// - Parameters:
    ///   - turns: lets several servers run each line once; `nil` if there is only this one.
    ///   - plan: what the configuration in effect says. Called on each use.
    init(
        ledger: PrefetchLedger, turns: ScheduleTurns?, clock: WallClock, logger: Logger, plan: @escaping @Sendable () -> Plan
    ) {
        self.ledger = ledger
        self.turns = turns
        self.clock = clock
        self.logger = logger
        self.plan = plan
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await resume()
            // Poll the time of day: clocks are set and machines sleep.
            repeat { await runDue() } while await sleepUnlessCancelled(for: .seconds(20))
        }
    }

    /// Resumes the orders that were in progress when the server stopped.
    func resume() async {
        do {
            for order in try await ledger.underWay() {
                do {
                    try await run(order)
                } catch {
                    if Task.isCancelled { return }
                    let isPermanent = Self.isPermanent(error)
                    if isPermanent { try await ledger.end(order) }
                    logger.error(
                        "cannot resume a prefetch; \(isPermanent ? "it is dropped" : "the next start tries again"): \(error)",
                        metadata: ["source": "\(order.source)"])
                }
            }
        } catch {
            // The server ends, as it does at once if its port is in use.
            if Task.isCancelled { return }
            logger.error("cannot read or change the record of interrupted prefetches: \(error)")
        }
    }

    /// Runs each schedule line that has become due since its last run. If the list of a line cannot be read, the line stays due and
    /// is tried again later.
    func runDue() async {
        for line in plan().lines {
            let due = line.due(until: clock.now)
            do {
                guard let last = try await ledger.lastBegun(line.name) else {
                    // A new line first runs at its next due time, not for a time before it was added.
                    try await ledger.note(line.name, begun: due)
                    continue
                }
                // A time in the future was recorded when the clock was ahead.
                guard last < due || last > clock.now, retries.allows(line.name, at: clock.now) else { continue }
                let turn = await turns?.turn(line.name, due: Int(due.timeIntervalSince1970))
                if case .elsewhere = turn { continue }
                if case .done = turn {
                    try await ledger.note(line.name, begun: due)
                    continue
                }
                try await run(line, due: due, turn: turn)
                retries.forget(line.name)
            } catch {
                if Task.isCancelled { return }
                let pause = retries.postpone(line.name, at: clock.now)
                logger.error(
                    "cannot run a line of the schedule; trying again in \(Int(pause / .seconds(60))) min: \(error)",
                    metadata: ["line": "\(line.name)"])
            }
        }
    }

    /// Runs a line of the schedule, and records for the other servers whether it was run.
    private func run(_ line: PrefetchConfiguration, due: Date, turn: ScheduleTurns.Turn?) async throws {
        do {
            try await run(line.order(at: due)) { try await ledger.note(line.name, begun: due) }
            if let turn { await turns?.finish(turn, isDone: !Task.isCancelled) }
        } catch {
            if let turn { await turns?.finish(turn, isDone: false) }
            throw error
        }
    }

    /// Whether running the order again would end with the same error.
    private static func isPermanent(_ error: any Error) -> Bool {
        (error as? Failure)?.blame == .request || error is RequestError
    }

    /// - Parameter onBegin: called when the titles are known, before the first variant is made.
    /// - Throws: an error of `PrefetchLedger.run` or of `onBegin`.
    private func run(_ order: PrefetchOrder, onBegin: @Sendable () async throws -> Void = {}) async throws {
        let plan = plan()
        let summary = try await ledger.run(
            order, as: try order.variants(plan.options), with: plan.prefetcher, onBegin: onBegin)
        logger.notice(
            "prefetched",
            metadata: [
                "source": "\(order.source)", "made": "\(summary.made)", "there": "\(summary.skipped)",
                "failed": "\(summary.failed)", "notKept": "\(summary.notKept)",
            ])
        if summary.notKept > 0 {
            logger.warning(
                "prefetched images were made, not kept: their origin forbids it (`freshness: { store: always }` keeps them)",
                metadata: ["source": "\(order.source)", "images": "\(summary.notKept)"])
        }
        for (reason, titles) in summary.titlesByReason {
            logger.warning(
                "cannot prefetch \(titles.count == 1 ? "a title" : "\(titles.count) titles"): \(reason)",
                metadata: ["title": "\(shown(naming: titles[0]))"])
        }
    }
}

/// When the lines of the schedule that failed are tried again: after a minute, then after twice as long each time, at most an hour.
private final class Retries: Sendable {
    private struct Retry {
        var backoff = Backoff(from: .seconds(60), upTo: .seconds(3600))
        /// A time before the failure is outside of it: the clock was set back.
        var pause: Range<Date>
    }

    private let retries = Mutex<[String: Retry]>([:])

    func allows(_ name: String, at now: Date) -> Bool {
        retries.withLock { !($0[name]?.pause.contains(now) ?? false) }
    }

    /// - Returns: the time until the next try.
    func postpone(_ name: String, at now: Date) -> Duration {
        retries.withLock { retries in
            var retry = retries[name] ?? Retry(pause: now..<now)
            let pause = retry.backoff.next()
            retry.pause = now..<now.addingTimeInterval(pause / .seconds(1))
            retries[name] = retry
            return pause
        }
    }

    func forget(_ name: String) { retries.withLock { $0[name] = nil } }
}

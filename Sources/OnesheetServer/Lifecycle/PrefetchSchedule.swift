import FoundationEssentials
import Logging
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle
import Synchronization

/// Runs the configured prefetch schedule. A run that was missed while the server was down starts when the server is up again.
struct PrefetchSchedule: Service {
    private let current: @Sendable () -> ServerContext
    private let retries = Retries()
    private var context: ServerContext { current() }
    private var ledger: PrefetchLedger { PrefetchLedger(context.shared.state, context.shared.prefetchJobs) }

    /// - Parameter context: the current configuration. Evaluated on each use.
    init(context: @escaping @autoclosure @Sendable () -> ServerContext) { current = context }

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
                    context.logger.error(
                        "cannot resume a prefetch; \(isPermanent ? "it is dropped" : "the next start tries again"): \(error)",
                        metadata: ["source": "\(order.source)"])
                }
            }
        } catch {
            context.logger.error("cannot read or change the record of interrupted prefetches: \(error)")
        }
    }

    /// Runs each schedule line that has become due since its last run. If the list of a line cannot be read, the line stays due and
    /// is tried again later.
    func runDue() async {
        let context = context
        for line in context.configuration.prefetch {
            let due = line.due(until: context.clock.now)
            do {
                guard let last = try await ledger.lastBegun(line.name) else {
                    // A new line first runs at its next due time, not for a time before it was added.
                    try await ledger.note(line.name, begun: due)
                    continue
                }
                guard last < due, retries.allows(line.name, at: context.clock.now) else { continue }
                let turn = await context.shared.coordination?.turns.turn(line.name, due: Int(due.timeIntervalSince1970))
                if case .elsewhere = turn { continue }
                if case .done = turn {
                    try await ledger.note(line.name, begun: due)
                    continue
                }
                try await run(line, due: due, turn: turn)
                retries.forget(line.name)
            } catch {
                if Task.isCancelled { return }
                let pause = retries.postpone(line.name, at: context.clock.now)
                context.logger.error(
                    "cannot run a line of the schedule; trying again in \(Int(pause / .seconds(60))) min: \(error)",
                    metadata: ["line": "\(line.name)"])
            }
        }
    }

    /// Runs a line of the schedule, and records for the other servers whether it was run.
    private func run(_ line: PrefetchConfiguration, due: Date, turn: ScheduleTurns.Turn?) async throws {
        do {
            try await run(line.order(at: due)) { try await ledger.note(line.name, begun: due) }
            if let turn { await context.shared.coordination?.turns.finish(turn, isDone: !Task.isCancelled) }
        } catch {
            if let turn { await context.shared.coordination?.turns.finish(turn, isDone: false) }
            throw error
        }
    }

    /// Whether running the order again would end with the same error.
    private static func isPermanent(_ error: any Error) -> Bool {
        if case PipelineError.unknownSource = error { return true }
        return error is RequestError
    }

    /// - Parameter onBegin: called when the titles are known, before the first variant is made.
    /// - Throws: an error of `PrefetchLedger.run` or of `onBegin`.
    private func run(_ order: PrefetchOrder, onBegin: @Sendable () async throws -> Void = {}) async throws {
        let summary = try await ledger.run(
            order, as: try order.transforms(context.options), with: context.prefetcher, onBegin: onBegin)
        context.logger.notice(
            "prefetched",
            metadata: [
                "source": "\(order.source)", "made": "\(summary.made)", "there": "\(summary.skipped)",
                "failed": "\(summary.failed)",
            ])
        for failure in summary.failures {
            context.logger.warning(
                "cannot prefetch a title: \(failure.reason)", metadata: ["title": "\(shown(naming: failure.title))"])
        }
    }
}

/// When the lines of the schedule that failed are tried again: after a minute, then after twice as long each time, at most an hour.
private final class Retries: Sendable {
    private struct Retry {
        var backoff = Backoff(from: .seconds(60), upTo: .seconds(3600))
        var at: Date
    }

    private let retries = Mutex<[String: Retry]>([:])

    func allows(_ name: String, at now: Date) -> Bool {
        retries.withLock { $0[name].map { $0.at <= now } ?? true }
    }

    /// - Returns: the time until the next try.
    func postpone(_ name: String, at now: Date) -> Duration {
        retries.withLock { retries in
            var retry = retries[name] ?? Retry(at: now)
            let pause = retry.backoff.next()
            retry.at = now.addingTimeInterval(pause / .seconds(1))
            retries[name] = retry
            return pause
        }
    }

    func forget(_ name: String) { retries.withLock { $0[name] = nil } }
}

import FoundationEssentials
import Logging
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// Runs the configured prefetch schedule. A run that was missed while the server was down starts when the server is up again.
struct PrefetchSchedule: Service {
    private let current: @Sendable () -> ServerContext
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
            for order in try await ledger.underWay() { await run(order) }
        } catch {
            context.logger.error("cannot read the interrupted prefetches: \(error)")
        }
    }

    /// Runs each schedule line that has become due since its last run.
    func runDue() async {
        let context = context
        for line in context.configuration.prefetch {
            let due = line.due(until: context.clock.now)
            do {
                let last = try await ledger.lastBegun(line.name)
                guard last.map({ $0 < due }) ?? true else { continue }
                try await ledger.note(line.name, begun: due)
                // A new line first runs at its next due time, not for a time before it was added.
                if last != nil { await run(line.order(at: due)) }
            } catch {
                context.logger.error("cannot run a line of the schedule: \(error)", metadata: ["line": "\(line.name)"])
            }
        }
    }

    private func run(_ order: PrefetchOrder) async {
        do {
            let summary = try await ledger.run(order, with: context.prefetcher, context.options)
            context.logger.notice(
                "prefetched",
                metadata: [
                    "source": "\(order.source)", "made": "\(summary.made)", "there": "\(summary.skipped)",
                    "failed": "\(summary.failed)",
                ])
            for failure in summary.failures {
                context.logger.warning("cannot prefetch a title: \(failure.reason)", metadata: ["title": "\(failure.title)"])
            }
        } catch {
            context.logger.error("the prefetch failed: \(error)", metadata: ["source": "\(order.source)"])
        }
    }
}

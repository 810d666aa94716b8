import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTracing
import ServiceLifecycle

/// Removes expired entries every three minutes, and checks for purges by other processes every second.
struct Housekeeping: Service {
    let cache: Cache
    let disk: DiskTier
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Separately: a sweep of a large folder takes longer than a second.
            async let checks: Void = repeatedly(every: .seconds(1)) { await cache.invalidations.check() }
            async let sweeps: Void = repeatedly(every: .seconds(180)) {
                cache.memory.sweep()
                do { try await disk.sweep() } catch { logger.warning("cannot sweep the disk tier: \(error)") }
            }
            _ = await (checks, sweeps)
        }
    }

    private func repeatedly(every pause: Duration, _ work: @Sendable () async -> Void) async {
        while await sleepUnlessCancelled(for: pause) { await work() }
    }
}

/// Polls the sources for changed posters and purges their variants, within a second if a poll takes no time.
struct SourceChanges: Service {
    let responder: ReloadableResponder

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Start again after a reload.
            repeat {
                await follow(responder.context, while: responder.reloads)
            } while await sleepUnlessCancelled(for: .seconds(1))
        }
    }

    /// Polls all sources of `context` until a reload.
    private func follow(_ context: ServerContext, while reloads: Int) async {
        // Poll the sources independently, so that a folder that hangs does not delay the others.
        await withTaskGroup(of: Void.self) { group in
            for (name, source) in context.sources {
                group.addTask { await follow(source, named: name, in: context, while: reloads) }
            }
        }
    }

    private func follow(
        _ source: any ContentSource, named name: String, in context: ServerContext, while reloads: Int
    ) async {
        let clock = ContinuousClock()
        let changed = ChangedTitles(pipeline: context.pipeline, logger: context.logger)
        var pause: Duration
        repeat {
            let start = clock.now
            var changes: TitleChanges?
            do {
                changes = try await source.changes()
                // It never changes by itself.
                if changes == nil { return }
            } catch {
                context.logger.debug("cannot poll for changes: \(error)", metadata: ["source": "\(name)"])
            }
            // Spend at most a twentieth of the time on polling. A purge that is tried again for long does not count.
            pause = max(.seconds(1), (clock.now - start) * 20)
            if let changes {
                // Fails only if the task is cancelled.
                do { try await changed.purge(changes, of: name) } catch { return }
            }
        } while await sleepUnlessCancelled(for: pause) && responder.reloads == reloads
    }
}

/// Looks every second whether other servers have blocked pictures, and purges the titles that show them.
struct BlockedPictureSearch: Service {
    let responder: ReloadableResponder

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while await sleepUnlessCancelled(for: .seconds(1)) { await responder.context.posters.searchForBlockedPictures() }
        }
    }
}

/// Sends spans to the collector every second.
struct TraceExport: Service {
    let collector: CollectorTracer

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while await sleepUnlessCancelled(for: .seconds(1)) { await collector.send() }
        }
    }
}

extension PrefetchSchedule {
    /// The schedule of a server.
    /// - Parameter context: the configuration in effect. Evaluated on each use.
    init(context: @escaping @autoclosure @Sendable () -> ServerContext) {
        let resources = context().resources
        self.init(
            ledger: PrefetchLedger(resources.state, resources.prefetchJobs), turns: resources.coordination?.turns,
            clock: resources.clock,
            logger: resources.logger
        ) {
            let current = context()
            return Plan(lines: current.configuration.prefetch, options: current.options, prefetcher: current.prefetcher)
        }
    }
}

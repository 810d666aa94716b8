import Logging
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

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

import Logging
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// Lets go of what was made of posters that a source has replaced since: a second later at the latest, where a look takes no time.
struct SourceChanges: Service {
    let responder: ReloadableResponder

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Again after the configuration was exchanged.
            repeat {
                await follow(responder.context, while: responder.exchanges)
            } while await sleepUnlessCancelled(for: .seconds(1))
        }
    }

    /// Follows all sources of `context` until another configuration takes its place.
    private func follow(_ context: ServerContext, while exchanges: Int) async {
        // Each by itself: a folder that hangs keeps no other from being looked at.
        await withTaskGroup(of: Void.self) { group in
            for (name, source) in context.sources {
                group.addTask { await follow(source, named: name, in: context, while: exchanges) }
            }
        }
    }

    private func follow(
        _ source: any ContentSource, named name: String, in context: ServerContext, while exchanges: Int
    ) async {
        let clock = ContinuousClock()
        let changed = ChangedTitles(pipeline: context.pipeline, logger: context.logger)
        var pause: Duration
        repeat {
            let start = clock.now
            do {
                guard try await changed.purge(of: name, source) != nil else { return }
            } catch {
                context.logger.debug("changes cannot be seen: \(error)", metadata: ["source": "\(name)"])
            }
            // Looking takes a twentieth of the time at the most.
            pause = max(.seconds(1), (clock.now - start) * 20)
        } while await sleepUnlessCancelled(for: pause) && responder.exchanges == exchanges
    }
}

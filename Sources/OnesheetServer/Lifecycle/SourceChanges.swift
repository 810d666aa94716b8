import Logging
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// Lets go of what was made of posters that a source has replaced since: a second later at the latest, where a look takes no time.
struct SourceChanges: Service {
    let serving: ReloadableResponder

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Anew when the installation was exchanged.
            repeat {
                await follow(serving.installation, while: serving.exchanges)
            } while await sleepUnlessCancelled(for: .seconds(1))
        }
    }

    /// Follows all sources of `installation` for as long as it was exchanged `exchanges` times.
    private func follow(_ installation: Installation, while exchanges: Int) async {
        // Each by itself: a folder that hangs keeps no other from being looked at.
        await withTaskGroup(of: Void.self) { group in
            for (name, source) in installation.sources {
                group.addTask { await follow(source, named: name, in: installation, while: exchanges) }
            }
        }
    }

    private func follow(
        _ source: any ContentSource, named name: String, in installation: Installation, while exchanges: Int
    ) async {
        let clock = ContinuousClock()
        var pause: Duration
        repeat {
            let start = clock.now
            do {
                guard try await installation.forgetChanges(of: name, source) != nil else { return }
            } catch {
                installation.logger.debug("changes cannot be seen: \(error)", metadata: ["source": "\(name)"])
            }
            // Looking takes a twentieth of the time at the most.
            pause = max(.seconds(1), (clock.now - start) * 20)
        } while await sleepUnlessCancelled(for: pause) && serving.exchanges == exchanges
    }
}

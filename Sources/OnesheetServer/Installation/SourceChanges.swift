import Logging
import OnesheetCache
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

extension Installation {
    /// So many titles are purged one by one; more are purged with their source.
    private static let mostSingly = 100

    /// Purges what was made of posters that changed.
    /// - Returns: what changed; `nil` where the source never changes by itself.
    @discardableResult
    func forgetChanges(of name: String, _ source: any ContentSource) async throws -> TitleChanges? {
        guard let changes = try await source.changes() else { return nil }
        switch changes {
        case .none: break
        case .titles(let ids) where ids.count <= Self.mostSingly:
            try await purge(.lists(of: name))
            for id in ids { try await purge(.title(TitleReference(source: name, id: id))) }
        case .titles, .all: try await purge(.source(name))
        }
        return changes
    }

    /// The same until nothing has changed, for a command that does not stay to look again.
    func catchUp(with name: String) async throws {
        guard let source = sources.first(where: { $0.name == name })?.source else { return }
        while let changes = try await forgetChanges(of: name, source), changes != .none {}
    }

    /// Tried again until it is done: the source tells a change once.
    private func purge(_ tag: CacheTag) async throws {
        while true {
            do {
                _ = try await pipeline.purge(.tag(tag))
                return
            } catch {
                logger.warning("what has changed cannot be purged yet: \(error)", metadata: ["tag": "\(tag)"])
                // The disk may be full or gone for a while; to try without a pause would only keep it busy.
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}

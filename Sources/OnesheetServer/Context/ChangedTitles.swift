import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// Purges what was made of posters that a source has replaced.
struct ChangedTitles: Sendable {
    let pipeline: Pipeline
    let logger: Logger

    /// So many titles are purged one by one; more are purged with their source.
    private static let mostSingly = 100

    /// Asks `source`, whose name is `name`, for its changes, and purges them.
    /// - Returns: the changes; `nil` if the source never changes by itself.
    func purge(of name: String, _ source: any ContentSource) async throws -> TitleChanges? {
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

    /// Tries again until it succeeds: the source tells a change once.
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

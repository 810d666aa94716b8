import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// Purges the variants of posters that a source has replaced.
struct ChangedTitles: Sendable {
    let pipeline: Pipeline
    let logger: Logger

    /// The maximum number of titles purged one by one. Beyond it, the whole source is purged.
    private static let maxTitles = 100

    /// Purges what the source `name` has reported.
    func purge(_ changes: TitleChanges, of name: String) async throws {
        switch changes {
        case .none: break
        case .titles(let ids) where ids.count <= Self.maxTitles:
            try await purge([.lists(of: name)] + ids.map { .title(TitleReference(source: name, id: $0)) })
        case .titles, .all: try await purge([.source(name)])
        }
    }

    /// Retries until it succeeds, because the source reports a change only once.
    private func purge(_ tags: [CacheTag]) async throws {
        try await pipeline.cache.purgeRetrying(tags.map { .tag($0) }) { error in
            logger.warning(
                "cannot purge a changed poster yet: \(error)",
                metadata: ["tags": "\(tags.map { shown(naming: $0.description) })"])
        }
    }
}

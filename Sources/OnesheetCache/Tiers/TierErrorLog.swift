internal import Logging
internal import OnesheetCore
internal import Synchronization

/// Skips a failing tier and logs it. A full disk fails every request, so repeated failures are not all logged.
final class TierErrorLog: Sendable {
    private let logger: Logger
    private let failures = Mutex<[String: Failures]>([:])

    private struct Failures {
        var count = 0
        var nextLog = ContinuousClock.now
    }

    init(logger: Logger) { self.logger = logger }

    /// The failures of each tier.
    var counts: [String: Int] { failures.withLock { $0.mapValues(\.count) } }

    /// The result of `body`, or `nil` if it fails.
    @discardableResult
    func passing<Answer>(
        _ tier: any CacheTier, _ operation: String, of key: CacheKey? = nil, body: () async throws(CacheError) -> Answer
    ) async -> Answer? {
        do {
            return try await body()
        } catch {
            note(error, of: tier, in: operation, key: key)
            return nil
        }
    }

    func note(_ error: CacheError, of tier: any CacheTier, in operation: String, key: CacheKey?) {
        let now = ContinuousClock.now
        let (count, isLogged) = failures.withLock { failures in
            var known = failures[tier.name] ?? Failures()
            let isLogged = now >= known.nextLog
            known.count += 1
            if isLogged { known.nextLog = now + .seconds(10) }
            failures[tier.name] = known
            return (known.count, isLogged)
        }
        guard isLogged else { return }
        logger.warning(
            "the \(tier.name) tier is skipped: \(error)",
            metadata: [
                "operation": "\(operation)", "key": "\(key.map { shown(naming: $0.description) } ?? "")", "failures": "\(count)",
            ])
    }
}

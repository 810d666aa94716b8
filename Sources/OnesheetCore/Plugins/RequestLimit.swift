import Synchronization

/// A rate limit with a burst. The requests of all clients that share it count.
public final class RequestLimit: Sendable {
    private let bucket: TokenBucket
    /// In seconds since `start`.
    private let fullAt = Mutex(0.0)
    private let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - perSecond: the lasting rate, above 0.
    ///   - burst: the most requests at once, at least 1.
    public init(perSecond: Double, burst: Int, start: ContinuousClock.Instant = .now) {
        precondition(perSecond > 0 && burst > 0, "a limit allows at least one request")
        bucket = TokenBucket(perSecond: perSecond, burst: burst)
        self.start = start
    }

    /// Counts a request, unless the limit is reached.
    /// - Returns: `nil` if the request was counted, or else the seconds until the next one is, at least 1.
    public func count(at now: ContinuousClock.Instant = .now) -> Int? {
        let now = (now - start) / .seconds(1)
        return fullAt.withLock { fullAt in
            switch bucket.spend(fullAt: fullAt, now: now) {
            case .allowed(let full):
                fullAt = full
                return nil
            case .refused(let until): return max(1, Int(min(3600, ((until ?? now + 3600) - now).rounded(.up))))
            }
        }
    }
}

extension RequestLimit: Equatable {
    public static func == (left: RequestLimit, right: RequestLimit) -> Bool { left === right }
}

import OnesheetCore

/// Delays requests to the rate that the origin policy allows.
actor RateLimiter {
    private var next: [OriginPolicy: ContinuousClock.Instant] = [:]

    /// Returns when it is the caller's turn, or when the caller is cancelled.
    /// - Throws: `HostSlots.Full` immediately if the turn would come after `limit`. Such a caller takes no turn.
    func wait(for policy: OriginPolicy, atMost limit: Duration) async throws(HostSlots.Full) {
        guard let rate = policy.rate, rate > 0 else { return }
        let now = ContinuousClock.now
        // Policies change with the configuration; unused ones are forgotten.
        if next.count >= 100 { next = next.filter { $0.value > now } }
        let turn = max(now, next[policy] ?? now)
        guard turn - now <= limit else { throw HostSlots.Full(retryAfter: max(1, Int(((turn - now) / .seconds(1)).rounded(.up)))) }
        next[policy] = turn + .seconds(min(1 / rate, 86_400))
        // The service counts requests in real time. A cancelled caller returns early, and its request ends by itself.
        do { try await Task.sleep(until: turn) } catch {}
    }
}

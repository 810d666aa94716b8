import OnesheetCore

/// Spaces requests out to the rate that the origin policy allows.
actor RateLimiter {
    private var next: [OriginPolicy: ContinuousClock.Instant] = [:]

    /// Returns when it is the caller's turn, or when it is cancelled.
    /// - Throws: `HostSlots.Full` at once if its turn would not come within `limit`: who cannot wait that long anyway takes no turn.
    func wait(for policy: OriginPolicy, atMost limit: Duration) async throws(HostSlots.Full) {
        guard let rate = policy.rate, rate > 0 else { return }
        let now = ContinuousClock.now
        // Policies change with the configuration; those of yesterday are forgotten.
        if next.count >= 100 { next = next.filter { $0.value > now } }
        let turn = max(now, next[policy] ?? now)
        guard turn - now <= limit else { throw HostSlots.Full(retryAfter: max(1, Int(((turn - now) / .seconds(1)).rounded(.up)))) }
        next[policy] = turn + .seconds(min(1 / rate, 86_400))
        // Waiting is the purpose here; the sleep ends early only when the caller is cancelled, whose request then ends by itself.
        do { try await Task.sleep(until: turn) } catch {}
    }
}

import OnesheetCore

/// Spaces requests out, so that no service gets more in a second than its policy says.
actor Pace {
    private var next: [OriginPolicy: ContinuousClock.Instant] = [:]

    /// Returns when it is the caller's turn, or when it is cancelled.
    func wait(for policy: OriginPolicy) async {
        guard let rate = policy.rate, rate > 0 else { return }
        let now = ContinuousClock.now
        let turn = max(now, next[policy] ?? now)
        next[policy] = turn + .seconds(min(1 / rate, 86_400))
        // Waiting is the purpose here; the sleep ends early only when the caller is cancelled, whose request then ends by itself.
        do { try await Task.sleep(until: turn) } catch {}
    }
}

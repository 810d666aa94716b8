import OnesheetCore
import Synchronization

/// Limits each client address: its concurrent connections, and its misses per second.
final class ClientShares: Sendable {
    /// The maximum number of tracked addresses. Beyond it, idle addresses are forgotten.
    static let maxAddresses = 65_536

    private struct Share {
        var connections = 0
        /// The misses left in the token bucket.
        var misses: Double
        var last: ContinuousClock.Instant
    }

    private struct State {
        var shares: [ClientAddress: Share] = [:]
        /// The shared limits of all addresses that do not fit into `shares`.
        var overflow: Share
        var lastCleanup: ContinuousClock.Instant?
    }

    private let limits: ClientsConfiguration.PerAddress
    private let maxAddresses: Int
    private let state: Mutex<State>

    init(
        _ limits: ClientsConfiguration.PerAddress, maxAddresses: Int = ClientShares.maxAddresses,
        now: ContinuousClock.Instant = .now
    ) {
        self.limits = limits
        self.maxAddresses = maxAddresses
        state = Mutex(State(overflow: Share(misses: Double(limits.burst), last: now)))
    }

    /// The number of tracked addresses.
    var count: Int { state.withLock { $0.shares.count } }

    /// Counts a connection. Balance with `disconnect`.
    /// - Returns: `false` if the address has reached its limit.
    func connect(_ address: ClientAddress, at now: ContinuousClock.Instant = .now) -> Bool {
        guard limits.connections > 0 else { return true }
        return change(address, at: now) { share in
            guard share.connections < limits.connections else { return false }
            share.connections += 1
            return true
        }
    }

    /// Ends a connection that `connect` counted.
    func disconnect(_ address: ClientAddress, at now: ContinuousClock.Instant = .now) {
        guard limits.connections > 0 else { return }
        change(address, at: now) { $0.connections = max(0, $0.connections - 1) }
    }

    /// Counts a miss.
    /// - Returns: `nil` if the miss is allowed, or else the seconds until one is, at least 1.
    func miss(_ address: ClientAddress, at now: ContinuousClock.Instant = .now) -> Int? {
        guard limits.misses > 0 else { return nil }
        return change(address, at: now) { share in
            guard share.misses < 1 else {
                share.misses -= 1
                return nil
            }
            return max(1, Int(min(3600, ((1 - share.misses) / limits.misses).rounded(.up))))
        }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ address: ClientAddress, at now: ContinuousClock.Instant, _ body: (inout Share) -> Result
    ) -> Result {
        state.withLock { state in
            if let known = state.shares[address] {
                var share = refilled(known, at: now)
                defer { state.shares[address] = share }
                return body(&share)
            }
            if state.shares.count >= maxAddresses { removeIdle(&state, at: now) }
            guard state.shares.count < maxAddresses else {
                // Only idle addresses are evicted: a client with many addresses could otherwise reset used-up limits.
                state.overflow = refilled(state.overflow, at: now)
                return body(&state.overflow)
            }
            var share = Share(misses: Double(limits.burst), last: now)
            defer { state.shares[address] = share }
            return body(&share)
        }
    }

    private func refilled(_ share: Share, at now: ContinuousClock.Instant) -> Share {
        var share = share
        share.misses = min(Double(limits.burst), share.misses + (now - share.last) / .seconds(1) * limits.misses)
        share.last = now
        return share
    }

    /// Forgets addresses in their initial state. The scan covers all addresses, so it runs at most once a second.
    private func removeIdle(_ state: inout State, at now: ContinuousClock.Instant) {
        if let last = state.lastCleanup, now - last < .seconds(1) { return }
        state.lastCleanup = now
        state.shares = state.shares.filter { _, share in
            share.connections > 0 || refilled(share, at: now).misses < Double(limits.burst)
        }
    }
}

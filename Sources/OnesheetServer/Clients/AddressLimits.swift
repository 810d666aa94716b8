import OnesheetCore
import Synchronization

/// Limits each client address: its concurrent connections, and its misses per second.
final class AddressLimits: Sendable {
    /// The maximum number of tracked addresses. Beyond it, idle addresses are forgotten.
    static let maxAddresses = 65_536

    private struct Usage {
        var connections = 0
        /// The misses left in the token bucket.
        var misses: Double
        var last: ContinuousClock.Instant
    }

    private struct State {
        var usages: [ClientAddress: Usage] = [:]
        /// The shared limits of all addresses that do not fit into `usages`.
        var overflow: Usage
        /// Whose connections `overflow` counts: at most `limits.connections`.
        var overflowing: [ClientAddress: Int] = [:]
        var lastCleanup: ContinuousClock.Instant?
    }

    private let limits: ClientsConfiguration.PerAddress
    private let maxAddresses: Int
    private let state: Mutex<State>

    init(
        _ limits: ClientsConfiguration.PerAddress, maxAddresses: Int = AddressLimits.maxAddresses,
        now: ContinuousClock.Instant = .now
    ) {
        self.limits = limits
        self.maxAddresses = maxAddresses
        state = Mutex(State(overflow: Usage(misses: Double(limits.burst), last: now)))
    }

    /// Counts a connection. Balance with `disconnect`.
    /// - Returns: `false` if the address has reached its limit.
    func connect(_ address: ClientAddress, at now: ContinuousClock.Instant = .now) -> Bool {
        guard limits.connections > 0 else { return true }
        return state.withLock { state in
            let (isCounted, isOverflow) = change(&state, of: address, at: now) { usage in
                guard usage.connections < limits.connections else { return false }
                usage.connections += 1
                return true
            }
            if isCounted, isOverflow { state.overflowing[address, default: 0] += 1 }
            return isCounted
        }
    }

    /// Ends a connection that `connect` counted.
    func disconnect(_ address: ClientAddress) {
        guard limits.connections > 0 else { return }
        state.withLock { state in
            if let count = state.overflowing[address] {
                state.overflow.connections -= 1
                state.overflowing[address] = count > 1 ? count - 1 : nil
            } else if let usage = state.usages[address], usage.connections > 0 {
                state.usages[address]?.connections -= 1
            }
        }
    }

    /// Counts a miss.
    /// - Returns: `nil` if the miss is allowed, or else the seconds until one is, at least 1.
    func miss(_ address: ClientAddress, at now: ContinuousClock.Instant = .now) -> Int? {
        guard limits.misses > 0 else { return nil }
        return state.withLock { state in
            change(&state, of: address, at: now) { usage in
                guard usage.misses < 1 else {
                    usage.misses -= 1
                    return nil
                }
                return max(1, Int(min(3600, ((1 - usage.misses) / limits.misses).rounded(.up))))
            }.0
        }
    }

    /// Changes the usage of `address`, or that of all addresses for which the table has no room.
    private func change<Result: Sendable>(
        _ state: inout State, of address: ClientAddress, at now: ContinuousClock.Instant, _ body: (inout Usage) -> Result
    ) -> (Result, isOverflow: Bool) {
        if let known = state.usages[address] {
            var usage = refilled(known, at: now)
            defer { state.usages[address] = usage }
            return (body(&usage), false)
        }
        if state.usages.count >= maxAddresses { removeIdle(&state, at: now) }
        guard state.usages.count < maxAddresses else {
            // Only idle addresses are evicted: a client with many addresses could otherwise reset used-up limits.
            state.overflow = refilled(state.overflow, at: now)
            return (body(&state.overflow), true)
        }
        var usage = Usage(misses: Double(limits.burst), last: now)
        defer { state.usages[address] = usage }
        return (body(&usage), false)
    }

    private func refilled(_ usage: Usage, at now: ContinuousClock.Instant) -> Usage {
        var usage = usage
        usage.misses = min(Double(limits.burst), usage.misses + (now - usage.last) / .seconds(1) * limits.misses)
        usage.last = now
        return usage
    }

    /// Forgets addresses in their initial state. The scan covers all addresses, so it runs at most once a second.
    private func removeIdle(_ state: inout State, at now: ContinuousClock.Instant) {
        if let last = state.lastCleanup, now - last < .seconds(1) { return }
        state.lastCleanup = now
        state.usages = state.usages.filter { _, usage in
            usage.connections > 0 || refilled(usage, at: now).misses < Double(limits.burst)
        }
    }
}

package import Logging
import OnesheetCache
package import OnesheetCore
import Synchronization

/// Leases of a coordinator, so that several servers do one piece of work once.
///
/// The holder of a lease does the work, stores its result where the others find it, and then releases the lease. The others wait and
/// look. If a holder dies, its lease ends and another one takes over. If the coordinator is slow or down, each server works alone.
package final class FlightLeases: Sendable {
    /// The number of pieces of work by how they began.
    package struct Counts: Sendable, Equatable {
        /// This server took the lease and did the work.
        package var taken = 0
        /// This server waited for the holder of the lease.
        package var waited = 0
        /// This server did the work without a lease.
        package var alone = 0
    }

    private let coordinator: any Coordinator
    private let holder: String
    private let lifetime: Int
    private let longestWait: Duration
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var counts = Counts()
        var endings: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var hasEnded = false
    }

    /// How long others know that the work was done, in milliseconds: longer than a lookup takes.
    private static let memory = 10_000
    private static let pauses = (first: Duration.milliseconds(5), longest: Duration.milliseconds(100))

    /// - Parameters:
    ///   - coordinator: ends each call in time.
    ///   - holder: this process.
    ///   - lifetime: the milliseconds after which a lease ends unless it is renewed; it is renewed at a third.
    ///   - longestWait: the longest time to wait for others. Then this server works alone.
    package init(
        _ coordinator: any Coordinator, holder: String, lifetime: Int = 5000, longestWait: Duration = .seconds(20), logger: Logger
    ) {
        self.coordinator = coordinator
        self.holder = holder
        self.lifetime = lifetime
        self.longestWait = longestWait
        self.logger = logger
    }

    package var counts: Counts { state.withLock { $0.counts } }

    /// Waits for this server's turn at a piece of work.
    /// - Parameters:
    ///   - name: the work.
    ///   - settle: waits until the others find the result of the work. The caller does not wait for it.
    /// - Returns: `nil` if the work is to be done without a lease.
    func turn(_ name: String, settle: @escaping @Sendable () async -> Void) async throws(CancellationError) -> ClusterTurn? {
        // Each piece of work has a holder of its own: two flights of one server exclude each other as well. Interactive work does not
        // wait for a prefetch.
        let lease = Lease(
            name: Self.name(name, Urgency.current), holder: "\(holder)/\(number())", coordinator: coordinator, lifetime: lifetime)
        guard case .granted(_, let isDone) = try await answer(to: lease) else {
            count { $0.alone += 1 }
            return nil
        }
        let renewal = lease.renewal()
        return ClusterTurn(mayBeDone: isDone) { [self] outcome in
            if outcome != .foundElsewhere { count { $0.taken += 1 } }
            end(lease, renewal, of: name, after: outcome == .done ? settle : nil)
        }
    }

    /// Waits for the lease.
    /// - Returns: `nil` or `.held` if the work is to be done without it.
    private func answer(to lease: Lease) async throws(CancellationError) -> LeaseAnswer? {
        let end = ContinuousClock.now + longestWait
        var backoff = Backoff(from: Self.pauses.first, upTo: Self.pauses.longest)
        var hasWaited = false
        while true {
            let answer: LeaseAnswer
            do throws(CoordinatorError) {
                answer = try await lease.acquire()
            } catch {
                // It may be held all the same.
                if !Task.isCancelled { logger.debug("a lease cannot be taken: \(error)") }
                self.end(lease, nil, of: "", after: nil)
                if Task.isCancelled { throw CancellationError() }
                return nil
            }
            guard case .held(let milliseconds) = answer else { return answer }
            if !hasWaited { count { $0.waited += 1 } }
            hasWaited = true
            guard ContinuousClock.now < end else { return answer }
            guard await sleepUnlessCancelled(for: min(backoff.next(), .milliseconds(max(milliseconds, 1)))) else {
                throw CancellationError()
            }
        }
    }

    /// Ends a lease in the background, once others find the result.
    private func end(
        _ lease: Lease, _ renewal: Task<Void, Never>?, of name: String, after settle: (@Sendable () async -> Void)?
    ) {
        let (logger, id) = (logger, number())
        state.withLock { state in
            guard !state.hasEnded else {
                renewal?.cancel()
                return
            }
            state.endings[id] = Task { [self] in
                await settle?()
                renewal?.cancel()
                do {
                    let memory = settle == nil ? 0 : Self.memory
                    try await lease.release(doneFor: memory)
                    // Visitors and prefetches have leases of their own, and take each other's results.
                    for other in Urgency.allCases.map({ Self.name(name, $0) }) where memory > 0 && other != lease.name {
                        try await coordinator.release(other, for: lease.holder, doneFor: memory)
                    }
                } catch {
                    logger.debug("a lease is not released and ends by itself: \(error)")
                }
                self.state.withLock { $0.endings[id] = nil }
            }
        }
    }

    /// Waits until all leases are released. No new ones are released afterwards.
    package func shutdown() async {
        let endings = state.withLock { state in
            state.hasEnded = true
            return Array(state.endings.values)
        }
        for ending in endings { await ending.value }
    }

    private static func name(_ name: String, _ urgency: Urgency) -> String { "\(urgency):\(name)" }

    private func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

    private func number() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }
}

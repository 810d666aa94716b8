import OnesheetCache
import OnesheetCore
import Synchronization

/// Lets many callers share one piece of work: the first to ask for a key starts it, all get its outcome.
///
/// The work belongs to its waiters. One that is cancelled leaves at once and hurts nobody; with the last one gone the work is cancelled.
/// There are only so many pieces of work and so many waiters; one more is refused at once.
final class Coalescing<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, Failure>, Never>

    private struct Flight {
        /// The ticket of the caller that started it: a later flight for the same key is another one.
        let id: UInt64
        let task: Task<Void, Never>
        var waiters: [UInt64: Waiter]
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var tickets: UInt64 = 0
        var waiters = 0
    }

    private let state = Mutex(State())
    private let cancelled: Failure
    private let full: Failure
    private let mostFlights: Int
    private let mostWaiters: Int
    private let onJoin: @Sendable (Key, _ waiters: Int) -> Void

    /// - Parameters:
    ///   - cancelled: what a waiter that is cancelled throws.
    ///   - full: what one throws for whom there is no room; `nil` is `cancelled`.
    ///   - mostFlights: pieces of work at once.
    ///   - mostWaiters: waiters at once, for all of them together.
    ///   - onJoin: called when a waiter has joined, so that a test knows when all have.
    init(
        cancelled: Failure, full: Failure? = nil, mostFlights: Int = 8192, mostWaiters: Int = 65_536,
        onJoin: @escaping @Sendable (Key, _ waiters: Int) -> Void = { _, _ in }
    ) {
        (self.cancelled, self.full) = (cancelled, full ?? cancelled)
        (self.mostFlights, self.mostWaiters) = (mostFlights, mostWaiters)
        self.onJoin = onJoin
    }

    /// The outcome of `work` for `key`, started here unless it is under way.
    func share(_ key: Key, _ work: @escaping @Sendable () async throws(Failure) -> Value) async throws(Failure) -> Value {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                join(key, ticket, waiter, work)
                // Cancelled before it joined: the handler below found nobody to dismiss.
                if Task.isCancelled { leave(key, ticket) }
            }
        } onCancel: {
            leave(key, ticket)
        }
        return try result.get()
    }

    private func join(
        _ key: Key, _ ticket: UInt64, _ waiter: Waiter, _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        let waiters = state.withLock { state -> Int? in
            guard state.waiters < mostWaiters else { return nil }
            if state.flights[key] != nil {
                state.waiters += 1
                state.flights[key]?.waiters[ticket] = waiter
                return state.flights[key]?.waiters.count ?? 0
            }
            guard state.flights.count < mostFlights else { return nil }
            state.waiters += 1
            let task = Task { [self] in
                do throws(Failure) {
                    land(key, ticket, .success(try await work()))
                } catch {
                    land(key, ticket, .failure(error))
                }
            }
            state.flights[key] = Flight(id: ticket, task: task, waiters: [ticket: waiter])
            return 1
        }
        guard let waiters else { return waiter.resume(returning: .failure(full)) }
        onJoin(key, waiters)
    }

    /// Gives the outcome to everyone who still waits for this very flight.
    private func land(_ key: Key, _ id: UInt64, _ result: Result<Value, Failure>) {
        let waiters = state.withLock { state -> [Waiter] in
            guard let flight = state.flights[key], flight.id == id else { return [] }
            state.flights[key] = nil
            state.waiters -= flight.waiters.count
            return Array(flight.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    private func leave(_ key: Key, _ ticket: UInt64) {
        let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: ticket) else { return (nil, nil) }
            state.waiters -= 1
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
            state.flights[key] = nil
            return (waiter, flight.task)
        }
        waiter?.resume(returning: .failure(cancelled))
        abandoned?.cancel()
    }
}

/// Work by what it is for, when it began and for whom: whoever asks after a purge does not share what was begun before, and a person
/// does not share the place in the line, nor the end of the quota, of what nobody waits for.
struct Begun<Key: Hashable & Sendable>: Hashable, Sendable {
    let key: Key
    let mark: CacheGeneration
    private let urgency = Urgency.current

    init(_ key: Key, at mark: CacheGeneration) { (self.key, self.mark) = (key, mark) }
}

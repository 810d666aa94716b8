import OnesheetCache
import OnesheetCore
import Synchronization

/// Lets concurrent callers share one piece of work for each key. The first caller starts it, and all get its result.
///
/// A caller may ask for several keys at once. The keys that have no flight yet become one piece of work.
///
/// A caller looks for a stored result before it joins, and an earlier flight may store one between the two. So each new flight looks
/// again (`find`) before its work begins.
///
/// Work ends without waiters. A cancelled waiter leaves immediately and does not affect the others; when the last one leaves, the
/// work is cancelled. The number of flights and of waiters is bounded; calls beyond that fail immediately.
///
/// Interactive callers neither wait for a prefetch nor share its failures: each urgency has its own flight for a key. The first of
/// the two that calls `Flights.begin()` serves the waiters of both. The other is cancelled if it has nothing left to do.
///
/// Work belongs to the clients of all its waiters (`FlightClients`): a caller that joins waits no longer than for work of its own.
final class Coalescing<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    /// The flights that one piece of work serves.
    struct Flights: Sendable {
        let keys: [Key]
        private let claim: @Sendable () -> Set<Key>

        fileprivate init(_ keys: [Key], claim: @escaping @Sendable () -> Set<Key>) {
            self.keys = keys
            self.claim = claim
        }

        /// Claims the keys before the expensive part of the work, so that no other urgency does that part for the same key.
        /// - Returns: the keys that this work still has to do. The others are done elsewhere or have no waiters left.
        func begin() -> Set<Key> { claim() }
    }

    typealias Work = @Sendable (Flights) async throws(Failure) -> [Key: Value]
    private typealias Waiter = FirstOutcome<Result<Value, Failure>>

    private struct Lane: Hashable {
        let key: Key
        let urgency: Urgency
    }

    private struct Flight {
        /// The piece of work that it belongs to.
        let work: UInt64
        var hasBegun = false
        var waiters: [UInt64: Waiter] = [:]
    }

    private struct RunningWork {
        /// `nil` until the work first waits.
        var task: Task<Void, Never>?
        /// The flights that still wait for it.
        var flights: Int
        let clients: FlightClients
    }

    /// The places of one call.
    private struct Joined {
        var places: [(ticket: UInt64, waiter: Waiter, count: Int)] = []
        /// The keys that had no flight, and the piece of work for them.
        var newKeys: [Key] = []
        let work: UInt64
        let clients: FlightClients
        /// The clients of the pieces of work that were running.
        var others: [FlightClients] = []
    }

    private struct State {
        var flights: [Lane: Flight] = [:]
        var running: [UInt64: RunningWork] = [:]
        var tickets: UInt64 = 0
        var waiters = 0

        mutating func nextTicket() -> UInt64 {
            tickets += 1
            return tickets
        }

        /// The lane for a caller of `urgency` that waits for `key`.
        func lane(of key: Key, _ urgency: Urgency) -> Lane {
            let begun = Urgency.allCases.first { flights[Lane(key: key, urgency: $0)]?.hasBegun ?? false }
            return Lane(key: key, urgency: begun ?? urgency)
        }

        /// Removes one flight from a piece of work.
        /// - Returns: the task to cancel if that was its last flight.
        mutating func detach(_ work: UInt64) -> Task<Void, Never>? {
            running[work]?.flights -= 1
            guard running[work]?.flights == 0 else { return nil }
            return running.removeValue(forKey: work)?.task ?? nil
        }
    }

    private let state = Mutex(State())
    private let cancelled: Failure
    private let full: Failure
    private let mostFlights: Int
    private let mostWaiters: Int
    private let find: @Sendable (Key) async -> Value?
    private let onJoin: @Sendable (Key, _ waiters: Int) -> Void

    /// - Parameters:
    ///   - cancelled: the error for a cancelled waiter.
    ///   - full: the error for a caller beyond the limits; `nil` is `cancelled`.
    ///   - find: the result that an earlier flight has stored under a key, if it is found quickly.
    ///   - mostFlights: the limit of concurrent flights. Only tests set it.
    ///   - mostWaiters: the limit of concurrent waiters of all flights. Only tests set it.
    ///   - onJoin: called when a waiter has joined. Only tests use it.
    init(
        cancelled: Failure, full: Failure? = nil, find: @escaping @Sendable (Key) async -> Value? = { _ in nil },
        mostFlights: Int = 8192, mostWaiters: Int = 65_536,
        onJoin: @escaping @Sendable (Key, _ waiters: Int) -> Void = { _, _ in }
    ) {
        self.cancelled = cancelled
        self.full = full ?? cancelled
        self.mostFlights = mostFlights
        self.mostWaiters = mostWaiters
        self.onJoin = onJoin
        self.find = find
    }

    /// The result of `work` for `key`. Starts the work unless it is running.
    func share(_ key: Key, _ work: @escaping @Sendable () async throws(Failure) -> Value) async throws(Failure) -> Value {
        let values = try await share([key]) { _ async throws(Failure) in [key: try await work()] }
        return values[0]
    }

    /// The results for `keys`, in order. Starts `work` for the keys without a flight; it returns a value for each key that its
    /// flights still claim.
    /// - Throws: the first failure in the order of `keys`.
    func share(_ keys: [Key], _ work: @escaping Work) async throws(Failure) -> [Value] {
        let own = WorkContext.current.clients
        guard let (tickets, listener) = join(keys, work, for: own) else { throw full }
        defer { own.ignore(listener) }
        let results = await withTaskCancellationHandler {
            var results: [Result<Value, Failure>] = []
            for (_, waiter) in tickets { results.append(await waiter.value()) }
            return results
        } onCancel: {
            for (key, (ticket, _)) in zip(keys, tickets) { leave(key, ticket) }
        }
        var values: [Value] = []
        for result in results { values.append(try result.get()) }
        return values
    }

    /// - Parameter clients: those of the caller, who lend their turns to the work until `listener` is ignored.
    /// - Returns: a ticket and a waiter for each key; `nil` if there is no room.
    private func join(
        _ keys: [Key], _ work: @escaping Work, for clients: FlightClients
    ) -> (tickets: [(ticket: UInt64, waiter: Waiter)], listener: Int)? {
        let urgency = Urgency.current
        let joined = state.withLock { state -> Joined? in
            let new = keys.count { state.flights[state.lane(of: $0, urgency)] == nil }
            guard state.waiters + keys.count <= mostWaiters, state.flights.count + new <= mostFlights || new == 0 else {
                return nil
            }
            state.waiters += keys.count
            var joined = Joined(work: state.nextTicket(), clients: FlightClients(clients.all))
            for key in keys {
                let lane = state.lane(of: key, urgency)
                if let flight = state.flights[lane] {
                    if let running = state.running[flight.work] { joined.others.append(running.clients) }
                } else {
                    joined.newKeys.append(key)
                }
                let (ticket, waiter) = (state.nextTicket(), Waiter())
                state.flights[lane, default: Flight(work: joined.work)].waiters[ticket] = waiter
                joined.places.append((ticket, waiter, state.flights[lane]?.waiters.count ?? 0))
            }
            if !joined.newKeys.isEmpty {
                state.running[joined.work] = RunningWork(flights: joined.newKeys.count, clients: joined.clients)
            }
            return joined
        }
        guard let joined else { return nil }
        let listener = clients.listen { client in
            joined.clients.join(client)
            for others in joined.others { others.join(client) }
        }
        for (key, (_, _, count)) in zip(keys, joined.places) { onJoin(key, count) }
        if !joined.newKeys.isEmpty {
            WorkContext.with({ $0.clients = joined.clients }) { start(work, id: joined.work, for: joined.newKeys, urgency) }
        }
        return (joined.places.map { ($0.ticket, $0.waiter) }, listener)
    }

    /// Starts `work` on this thread, which it leaves when it first waits. That spares a change of threads.
    private func start(_ work: @escaping Work, id: UInt64, for keys: [Key], _ urgency: Urgency) {
        let task = Task.immediate { [self] in
            var values: [Key: Value] = [:]
            for key in keys { values[key] = await find(key) }
            let left = keys.filter { values[$0] == nil }
            var failure = cancelled
            if !left.isEmpty {
                let flights = Flights(left) { [self] in begin(left.map { Lane(key: $0, urgency: urgency) }, of: id) }
                do throws(Failure) {
                    values.merge(try await work(flights)) { _, made in made }
                } catch {
                    failure = error
                }
            }
            land(keys.map { Lane(key: $0, urgency: urgency) }, of: id) { values[$0].map { .success($0) } ?? .failure(failure) }
        }
        let isRunning = state.withLock { state in
            state.running[id]?.task = task
            return state.running[id] != nil
        }
        // The work has ended, or its waiters have left.
        if !isRunning { task.cancel() }
    }

    /// Takes over the waiters of other flights for the same keys.
    private func begin(_ lanes: [Lane], of work: UInt64) -> Set<Key> {
        let (claimed, abandoned, clients, others) = state.withLock { state in
            var claimed: Set<Key> = []
            var others: [FlightClients] = []
            var abandoned: [Task<Void, Never>] = []
            for lane in lanes where state.flights[lane]?.work == work {
                claimed.insert(lane.key)
                state.flights[lane]?.hasBegun = true
                for urgency in Urgency.allCases where urgency != lane.urgency {
                    guard let other = state.flights.removeValue(forKey: Lane(key: lane.key, urgency: urgency)) else { continue }
                    state.flights[lane]?.waiters.merge(other.waiters) { first, _ in first }
                    if let running = state.running[other.work] { others.append(running.clients) }
                    if let task = state.detach(other.work) { abandoned.append(task) }
                }
            }
            return (claimed, abandoned, state.running[work]?.clients, others)
        }
        for client in others.flatMap(\.all) { clients?.join(client) }
        for task in abandoned { task.cancel() }
        return claimed
    }

    /// Delivers the results to all waiters of this work.
    private func land(_ lanes: [Lane], of work: UInt64, _ result: (Key) -> Result<Value, Failure>) {
        let landed = state.withLock { state -> [(Key, [Waiter])] in
            state.running[work] = nil
            return lanes.compactMap { lane in
                guard let flight = state.flights[lane], flight.work == work else { return nil }
                state.flights[lane] = nil
                state.waiters -= flight.waiters.count
                return (lane.key, Array(flight.waiters.values))
            }
        }
        for (key, waiters) in landed {
            for waiter in waiters { waiter.give(result(key)) }
        }
    }

    private func leave(_ key: Key, _ ticket: UInt64) {
        let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            for lane in Urgency.allCases.map({ Lane(key: key, urgency: $0) }) {
                guard let waiter = state.flights[lane]?.waiters.removeValue(forKey: ticket) else { continue }
                state.waiters -= 1
                guard let flight = state.flights[lane], flight.waiters.isEmpty else { return (waiter, nil) }
                state.flights[lane] = nil
                return (waiter, state.detach(flight.work))
            }
            return (nil, nil)
        }
        waiter?.give(.failure(cancelled))
        abandoned?.cancel()
    }
}

/// The purpose of a piece of work and the generation in which it began. A request after a purge does not share work that began
/// before it.
struct FlightKey<Key: Hashable & Sendable>: Hashable, Sendable {
    let key: Key
    let generation: CacheGeneration

    init(_ key: Key, at generation: CacheGeneration) {
        self.key = key
        self.generation = generation
    }
}

import OnesheetCore
import Synchronization

/// Places for work in lanes, such as the requests to a host. A caller that finds no place waits in a bounded line and for a bounded time.
/// Clients take turns, and a cancelled caller gives up its turn. Work that several clients wait for has the turns of all (`FlightClients`).
///
/// A lane may have a pace, too: then the next one begins only some time after the one before.
final class Slots<Lane: Hashable & Sendable>: Sendable {
    /// The continuation of a waiting caller, which gets `nil` when it has a place.
    private typealias Waiter = CheckedContinuation<NoPlace?, Never>

    /// A place that is held.
    struct Place: Sendable {
        fileprivate let slots: Slots
        fileprivate let lane: Lane
        fileprivate let ticket: UInt64
        fileprivate let start: Double
        /// How long the caller waited for it.
        let waited: Duration

        /// Records the first progress of the work.
        func answered() { slots.answered(self) }

        /// Whether the work may continue after `seconds` without progress.
        func mayStay(after seconds: Double) -> Bool {
            slots.change(lane) { line, usual in line.mayStay(ticket, after: seconds, usual: usual) } ?? true
        }

        /// Records that the work does not end in time. It holds the place until it ends.
        func hang() {
            for waiter in slots.change(lane, { line, _ in line.hang(ticket) }) ?? [] { waiter.resume(returning: .hung) }
        }

        /// Passes the place on. Must be called once.
        func leave() {
            let seconds = slots.now() - start
            slots.change(lane) { line, _ in line.leave(ticket, after: seconds) }
        }
    }

    private struct State {
        var lines: [Lane: SlotLine<Waiter>] = [:]
        /// The average seconds until the first progress, weighted towards the latest.
        var usual: [Lane: Double] = [:]
        var tickets: UInt64 = 0
    }

    /// The lanes that are remembered. Beyond it, those without work are forgotten.
    private static var capacity: Int { 1000 }

    private let state = Mutex(State())
    private let rules: SlotRules
    private let now: @Sendable () -> Double

    /// - Parameter now: seconds since an arbitrary start, which no change of the system's clock affects.
    init(_ rules: SlotRules, now: @escaping @Sendable () -> Double = SlotClock.now) {
        precondition(rules.places > 0, "needs at least one place")
        self.rules = rules
        self.now = now
    }

    /// Runs `body` once `lane` has a free place.
    /// - Parameter limit: the longest wait.
    /// - Throws: `NoPlace`, and any error of `body`.
    func with<Value: Sendable>(
        _ lane: Lane, within limit: Duration, _ body: (Place) async throws -> Value
    ) async throws -> Value {
        let place = try await enter(lane, within: limit)
        defer { place.leave() }
        return try await body(place)
    }

    /// Waits for a place, which the caller must leave.
    /// - Parameters:
    ///   - interval: seconds between two starts in this lane.
    ///   - limit: the longest wait.
    func enter(_ lane: Lane, every interval: Double = 0, within limit: Duration) async throws(NoPlace) -> Place {
        let (context, start) = (WorkContext.current, ContinuousClock.now)
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        context.call?.wait()
        var alarm: Alarms.ID?
        var listener: Int?
        defer {
            context.call?.goOn()
            if let alarm { Alarms.shared.cancel(alarm) }
            if let listener { context.clients.ignore(listener) }
        }
        let refusal = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let (entry, pause) = state.withLock { state -> (SlotLine<Waiter>.Entry, Double?) in
                    if Task.isCancelled { return (.refused(.cancelled), nil) }
                    let now = now()
                    if state.lines[lane] == nil, state.lines.count >= Self.capacity {
                        state.lines = state.lines.filter { !$0.value.isIdle(at: now) }
                    }
                    let entry = state.lines[lane, default: SlotLine(rules)].enter(
                        waiter, ticket: ticket, for: context.clients.all, every: interval, within: limit / .seconds(1),
                        at: now)
                    return (entry, Self.timer(lane, in: &state, at: now))
                }
                switch entry {
                case .now: waiter.resume(returning: nil)
                case .refused(let reason): waiter.resume(returning: reason)
                case .later(let displaced, let reason):
                    displaced?.resume(returning: reason)
                    alarm = Alarms.shared.set(in: limit) { [self] in giveUp(lane, ticket) }
                    listener = context.clients.listen { [self] client in
                        state.withLock { $0.lines[lane]?.lend(ticket, to: client) }
                    }
                }
                if let pause { setTimer(lane, in: pause) }
            }
        } onCancel: {
            remove(lane, ticket)?.resume(returning: .cancelled)
        }
        if let refusal { throw refusal }
        return Place(slots: self, lane: lane, ticket: ticket, start: now(), waited: ContinuousClock.now - start)
    }

    /// Running and waiting work in `lane`. Only tests use it: they wait until their work is here.
    func load(of lane: Lane) -> Int { state.withLock { $0.lines[lane]?.load ?? 0 } }

    private func remove(_ lane: Lane, _ ticket: UInt64) -> Waiter? {
        state.withLock { $0.lines[lane]?.remove(ticket) }
    }

    private func giveUp(_ lane: Lane, _ ticket: UInt64) {
        let now = now()
        let (waiter, reason) = state.withLock { ($0.lines[lane]?.remove(ticket), $0.lines[lane]?.refusal(at: now)) }
        waiter?.resume(returning: reason ?? .full(retryAfter: 1))
    }

    private func answered(_ place: Place) {
        let seconds = max(now() - place.start, 0)
        state.withLock { state in
            if state.usual.count >= Self.capacity, state.usual[place.lane] == nil { state.usual = [:] }
            let known = state.usual[place.lane] ?? seconds
            state.usual[place.lane] = known + 0.2 * (seconds - known)
        }
    }

    /// Changes the line of `lane` if there is one, and lets those begin who have a place now.
    @discardableResult
    private func change<Value: Sendable>(
        _ lane: Lane, _ body: (inout SlotLine<Waiter>, _ usual: Double) -> Value
    ) -> Value? {
        let now = now()
        let (value, begun, pause) = state.withLock { state -> (Value?, [Waiter], Double?) in
            let usual = state.usual[lane] ?? 0
            let value = state.lines[lane]?.change { body(&$0, usual) }
            let begun = state.lines[lane]?.beginNext(at: now) ?? []
            return (value, begun, Self.timer(lane, in: &state, at: now))
        }
        for waiter in begun { waiter.resume(returning: nil) }
        if let pause { setTimer(lane, in: pause) }
        return value
    }

    /// - Returns: the seconds after which the next one in `lane` has to be begun, if no timer does it yet.
    private static func timer(_ lane: Lane, in state: inout State, at now: Double) -> Double? {
        guard state.lines[lane]?.hasTimer == false, let pause = state.lines[lane]?.pause(at: now) else { return nil }
        state.lines[lane]?.hasTimer = true
        return pause
    }

    private func setTimer(_ lane: Lane, in seconds: Double) {
        _ = Alarms.shared.set(in: .seconds(seconds)) { [weak self] in
            self?.change(lane) { line, _ in line.hasTimer = false }
        }
    }
}

/// The time of `Slots` without tests.
enum SlotClock {
    private static let beginning = ContinuousClock.now

    static let now: @Sendable () -> Double = { (ContinuousClock.now - beginning) / .seconds(1) }
}

internal import FoundationEssentials
public import OnesheetCore
internal import Synchronization

/// A coordinator in memory, with an engine that a test can break.
public final class FakeCoordinator: Coordinator {
    private struct State {
        var contents = FakeEngine()
        var isUnreachable = false
        var isSlow = false
        var gate: Gate?
        var calls: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let clock: ManualClock

    /// - Parameter clock: the engine's clock, which ends leases, counters and the waiting of `read`.
    public init(clock: ManualClock = ManualClock()) { self.clock = clock }

    /// Whether every call fails with `CoordinatorError.unreachable`, also a `read` that waits.
    public var isUnreachable: Bool {
        get { state.withLock { $0.isUnreachable } }
        set { state.withLock { $0.isUnreachable = newValue } }
    }

    /// Whether answers come too late: every call has its effect and then fails with `CoordinatorError.timedOut`.
    public var isSlow: Bool {
        get { state.withLock { $0.isSlow } }
        set { state.withLock { $0.isSlow = newValue } }
    }

    /// Every call first passes this gate.
    public var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// The number of calls of a function since the beginning: `calls(of: "acquire")`.
    public func calls(of function: String) -> Int { state.withLock { $0.calls[function] ?? 0 } }

    /// An empty restart of the engine: no leases, no counters, and logs in new epochs.
    public func forgetEverything() { state.withLock { $0.contents = FakeEngine(after: $0.contents) } }

    /// Keeps the last `count` records of a log.
    public func trim(_ log: String, to count: Int) { state.withLock { $0.contents.trim(log, to: count) } }

    /// A failover to a replica that has not seen the last `count` records of a log.
    public func loseLast(_ count: Int, of log: String) { state.withLock { $0.contents.loseLast(count, of: log) } }

    /// The texts of all records of a log.
    public func records(of log: String) -> [String] { state.withLock { $0.contents.records(of: log).map(\.text) } }

    /// Whether a lease is held now.
    public func isHeld(_ name: String) -> Bool {
        state.withLock { $0.contents.isHeld(name, at: now) }
    }

    public func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        try await call("acquire") { $0.acquire(name, for: holder, milliseconds: milliseconds, at: $1) }
    }

    public func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        try await call("renew") { $0.renew(name, for: holder, milliseconds: milliseconds, at: $1) }
    }

    public func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError) {
        try await call("release") { $0.release(name, for: holder, doneFor: milliseconds, at: $1) }
    }

    public func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        try await call("append") { $0.append(record, to: log, at: $1) }
    }

    public func read(
        _ log: String, after position: LogPosition?, of known: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        let end = now + Double(milliseconds)
        var page = try await call("read") { engine, _ in engine.read(log, after: position, of: known, limit: limit) }
        let epoch = page.epoch
        while position != nil, page.records.isEmpty, page.isComplete, page.epoch == epoch, now < end {
            // Real time separates two looks. The manual clock tells when the wait is over.
            guard await sleepUnlessCancelled(for: .milliseconds(4)) else {
                throw .failed(operation: "read", reason: "the task was cancelled")
            }
            page = try state.withLock { state throws(CoordinatorError) in
                if state.isUnreachable { throw .unreachable(operation: "read", reason: "the test says so") }
                return state.contents.read(log, after: position, of: known, limit: limit)
            }
        }
        return page
    }

    public func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await call("add") { $0.add(amount, to: counter, floor: floor, limit: limit, milliseconds: milliseconds, at: $1) }
    }

    public func count(of counter: String) async throws(CoordinatorError) -> Int {
        try await call("count") { $0.count(of: counter, at: $1) }
    }

    public func probe() async throws(CoordinatorError) -> [String] { try await call("probe") { _, _ in [] } }

    private var now: Double { clock.now.timeIntervalSince1970 * 1000 }

    private func call<Answer: Sendable>(
        _ operation: String, _ work: (inout FakeEngine, _ now: Double) -> Answer
    ) async throws(CoordinatorError) -> Answer {
        let gate = state.withLock { state in
            state.calls[operation, default: 0] += 1
            return state.gate
        }
        do { try await gate?.pass() } catch { throw .failed(operation: operation, reason: "the task was cancelled") }
        let now = now
        return try state.withLock { state throws(CoordinatorError) in
            if state.isUnreachable { throw .unreachable(operation: operation, reason: "the test says so") }
            let answer = work(&state.contents, now)
            if state.isSlow { throw .timedOut(operation: operation) }
            return answer
        }
    }
}

package import OnesheetCore
import Synchronization

/// A plugin's coordinator with deadlines and a prefix. One that fails or hangs costs its users no more than the deadline. The names of its
/// leases, logs and counters begin with the prefix, so that several installations share an engine.
///
/// After several failures in a row, calls fail immediately for a while, except reads of a log, which run in the background.
package final class BoundedCoordinator: Coordinator {
    private let coordinator: any Coordinator
    private let prefix: String
    private let deadline: Duration
    private let executor = BoundedExecutor(threads: 2)
    private let state = Mutex(State())

    private struct State {
        var underWay = 0
        var breaker = CallBreaker(failures: 5, pause: .seconds(2))
    }

    private static let mostUnderWay = 1024
    /// The time beyond its own wait that a read of a log may take. It is not in anyone's way.
    private static let readTime = Duration.seconds(5)

    /// - Parameters:
    ///   - prefix: what all names begin with, before a slash; empty for nothing.
    ///   - deadline: for each call but a read of a log.
    package init(_ coordinator: any Coordinator, prefix: String = "", deadline: Duration = .milliseconds(250)) {
        self.coordinator = coordinator
        self.prefix = prefix.isEmpty ? "" : "\(prefix)/"
        self.deadline = deadline
    }

    package func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        try await call("take a lease", of: name) { coordinator, name async throws(CoordinatorError) in
            try await coordinator.acquire(name, for: holder, milliseconds: milliseconds)
        }
    }

    package func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        try await call("renew a lease", of: name) { coordinator, name async throws(CoordinatorError) in
            try await coordinator.renew(name, for: holder, milliseconds: milliseconds)
        }
    }

    package func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError) {
        try await call("release a lease", of: name) { coordinator, name async throws(CoordinatorError) in
            try await coordinator.release(name, for: holder, doneFor: milliseconds)
        }
    }

    package func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        try await call("append to a log", of: log, within: deadline * 4) { coordinator, log async throws(CoordinatorError) in
            try await coordinator.append(record, to: log)
        }
    }

    package func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        try await call("read a log", of: log, within: .milliseconds(milliseconds) + Self.readTime, rests: false) {
            coordinator, log async throws(CoordinatorError) in
            try await coordinator.read(log, after: position, of: epoch, limit: limit, waiting: milliseconds)
        }
    }

    package func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await call("count", of: counter) { coordinator, counter async throws(CoordinatorError) in
            try await coordinator.add(amount, to: counter, floor: floor, limit: limit, milliseconds: milliseconds)
        }
    }

    package func count(of counter: String) async throws(CoordinatorError) -> Int {
        try await call("read a count", of: counter) { coordinator, counter async throws(CoordinatorError) in
            try await coordinator.count(of: counter)
        }
    }

    package func probe() async throws(CoordinatorError) -> [String] {
        try await call("try what it can", within: .seconds(10), rests: false) { coordinator, _ async throws(CoordinatorError) in
            try await coordinator.probe()
        }
    }

    private func call<Answer: Sendable>(
        _ operation: String, of name: String = "", within limit: Duration? = nil, rests: Bool = true,
        _ body: @escaping @Sendable (any Coordinator, _ name: String) async throws(CoordinatorError) -> Answer
    ) async throws(CoordinatorError) -> Answer {
        try enter(operation, rests: rests)
        let (coordinator, name) = (coordinator, prefix + name)
        let outcome = await executor.run(within: limit ?? deadline) { [self] () async -> Result<Answer, CoordinatorError> in
            defer { leave() }
            do throws(CoordinatorError) { return .success(try await body(coordinator, name)) } catch { return .failure(error) }
        }
        let answer: Result<Answer, CoordinatorError>
        switch outcome {
        case .answer(let result): answer = result
        case .late: answer = .failure(.timedOut(operation: operation))
        case .crowded, .cancelled:
            // Neither says anything about the engine.
            if rests { state.withLock { $0.breaker.abandoned() } }
            let reason = if case .crowded = outcome { "its threads are busy" } else { "the work was cancelled" }
            throw .failed(operation: operation, reason: reason)
        }
        if rests { note(answer) }
        return try answer.get()
    }

    private func enter(_ operation: String, rests: Bool) throws(CoordinatorError) {
        let reason = state.withLock { state -> String? in
            if rests, !state.breaker.allows(at: .now) { return "it is left alone for a while after failures" }
            guard state.underWay < Self.mostUnderWay else {
                if rests { state.breaker.abandoned() }
                return "\(state.underWay) calls are already running"
            }
            state.underWay += 1
            return nil
        }
        if let reason { throw .unreachable(operation: operation, reason: reason) }
    }

    private func leave() { state.withLock { $0.underWay -= 1 } }

    private func note(_ answer: Result<some Sendable, CoordinatorError>) {
        state.withLock { state in
            switch answer {
            case .success: state.breaker.succeeded()
            case .failure: state.breaker.failed(at: .now)
            }
        }
    }
}

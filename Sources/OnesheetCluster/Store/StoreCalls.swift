import OnesheetCache
import OnesheetCore
import Synchronization

/// Calls a store with deadlines, and pauses calls after failures, so that a slow or unreachable store costs requests almost nothing.
final class StoreCalls: Sendable {
    enum Operation: String {
        case get, put, delete, list
    }

    /// Why there is no answer.
    enum Failure: Error {
        /// The store is left alone after failures.
        case resting
        /// Too many lookups are under way, or none of our threads was free in time.
        case busy
        case cancelled
        case store(StoreError)

        /// For a metric.
        var outcome: String {
            switch self {
            case .resting: "skipped"
            case .busy: "busy"
            case .cancelled: "cancelled"
            case .store(.timedOut): "timeout"
            case .store: "failed"
            }
        }

        func cacheError(_ operation: String) -> CacheError {
            let reason =
                switch self {
                case .resting: "the store is left alone for a moment after several failures"
                case .busy: "too many calls are under way"
                case .cancelled: "the request was cancelled"
                case .store(let error): error.description
                }
            return .tier(operation: "\(operation) in the shared store", reason: reason)
        }
    }

    private struct State {
        var metrics = SharedTierMetrics()
        var breaker: CallBreaker
        var readsUnderWay = 0
    }

    let executor = BoundedExecutor(threads: 2)
    private let settings: SharedSettings
    private let state: Mutex<State>

    init(settings: SharedSettings) {
        self.settings = settings
        state = Mutex(State(breaker: CallBreaker(failures: settings.failures, pause: settings.pause)))
    }

    var metrics: SharedTierMetrics {
        state.withLock { state in
            state.metrics.isUp = !state.breaker.isOpen
            return state.metrics
        }
    }

    func count(_ change: (inout SharedTierMetrics) -> Void) { state.withLock { change(&$0.metrics) } }

    /// Calls the store with the deadline of the operation.
    /// - Parameters:
    ///   - isRequest: whether a request waits, which is then refused while the store rests or is busy. Administration always calls.
    ///   - outcome: the outcome of an answer, for the metric.
    ///   - body: runs on the executor, so it may examine the response.
    func call<Answer: Sendable>(
        _ operation: Operation, isRequest: Bool = true, outcome: (Answer) -> String,
        _ body: @escaping @Sendable () async throws(StoreError) -> Answer
    ) async throws(Failure) -> Answer {
        do throws(Failure) {
            try begin(operation, isRequest: isRequest)
        } catch {
            count { $0.requests[operation.rawValue, default: .init()].outcomes[error.outcome, default: 0] += 1 }
            throw error
        }
        let start = ContinuousClock.now
        let limit = operation == .get && isRequest ? settings.readDeadline : settings.writeDeadline
        let result = await executor.run(within: limit) { [self] () async -> Result<Answer, StoreError> in
            // A call that ignores its deadline counts until it ends.
            defer { if operation == .get, isRequest { state.withLock { $0.readsUnderWay -= 1 } } }
            do throws(StoreError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let answer: Result<Answer, Failure> =
            switch result {
            case .answer(.success(let answer)): .success(answer)
            case .answer(.failure(let error)): .failure(Task.isCancelled ? .cancelled : .store(error))
            case .late: .failure(.store(.timedOut(operation: operation.rawValue)))
            case .crowded: .failure(.busy)
            case .cancelled: .failure(.cancelled)
            }
        end(operation, answer, outcome: answer.map(outcome), seconds: seconds)
        return try answer.get()
    }

    private func begin(_ operation: Operation, isRequest: Bool) throws(Failure) {
        let failure = state.withLock { state -> Failure? in
            guard isRequest else { return nil }
            guard state.breaker.allows(at: .now) else { return .resting }
            guard operation == .get else { return nil }
            guard state.readsUnderWay < settings.readsUnderWay else {
                state.breaker.abandoned()
                return .busy
            }
            state.readsUnderWay += 1
            return nil
        }
        if let failure { throw failure }
    }

    private func end<Answer>(
        _ operation: Operation, _ answer: Result<Answer, Failure>, outcome: Result<String, Failure>, seconds: Double
    ) {
        state.withLock { state in
            var requests = state.metrics.requests[operation.rawValue] ?? .init()
            requests.count += 1
            requests.seconds += seconds
            let text: String
            switch outcome {
            case .success(let outcome): text = outcome
            case .failure(let failure): text = failure.outcome
            }
            requests.outcomes[text, default: 0] += 1
            state.metrics.requests[operation.rawValue] = requests
            switch answer {
            case .failure(.cancelled), .failure(.busy):
                // Neither says anything about the store.
                state.breaker.abandoned()
            case .success, .failure(.store(.tooLarge)), .failure(.store(.invalidName)): state.breaker.succeeded()
            case .failure: state.breaker.failed(at: .now)
            }
        }
    }
}

internal import NIOCore
internal import NIOPosix
internal import OnesheetCore
internal import Synchronization

/// Runs calls that may block on a bounded number of threads. A caller waits no longer than the deadline; a thread that hangs in the file
/// system is left alone until the system lets it go.
final class BlockingCalls: Sendable {
    /// The most calls that run or wait for a thread.
    private static let most = 256

    private let threads: NIOThreadPool
    private let deadline: Duration
    private let underWay = Mutex(0)

    init(threads: Int, deadline: Duration) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        self.threads.start()
        self.deadline = deadline
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// - Parameter body: gets the time at which it should give up.
    /// - Throws: `StoreError.timedOut` after the deadline, or if the caller is cancelled.
    func run<Answer: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (_ deadline: ContinuousClock.Instant) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let isFull = underWay.withLock { count in
            guard count < Self.most else { return true }
            count += 1
            return false
        }
        guard !isFull else { throw .failed(operation: operation, reason: "\(Self.most) calls are already under way") }
        let end = ContinuousClock.now + deadline
        let outcome = Outcome<Answer>()
        threads.submit { [self] state in
            defer { leave() }
            // A call whose caller has left is not begun.
            guard case .active = state, !outcome.isOver else { return outcome.give(.failure(.timedOut(operation: operation))) }
            do throws(StoreError) { outcome.give(.success(try body(end))) } catch { outcome.give(.failure(error)) }
        }
        let timer = NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(deadline)) {
            outcome.give(.failure(.timedOut(operation: operation)))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            await outcome.result
        } onCancel: {
            outcome.give(.failure(.timedOut(operation: operation)))
        }.get()
    }

    /// Ends the threads. Does not wait longer than the deadline for one that hangs.
    func shutdown() async {
        let outcome = Outcome<Void>()
        threads.shutdownGracefully { _ in outcome.give(.success(())) }
        let timer = NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(deadline)) { outcome.give(.success(())) }
        _ = await outcome.result
        timer.cancel()
    }

    private func leave() { underWay.withLock { $0 -= 1 } }
}

/// The first result that is given; further ones are ignored.
private final class Outcome<Answer: Sendable>: Sendable {
    typealias Value = Result<Answer, StoreError>
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case over(Value?)
    }

    private let state = Mutex(State.open)

    var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

    func give(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .over: return nil
            case .open:
                state = .over(value)
                return nil
            case .awaited(let continuation):
                state = .over(nil)
                return continuation
            }
        }
        waiting?.resume(returning: value)
    }

    /// May be awaited once.
    var result: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    guard case .over(let value) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    return value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}

internal import Synchronization

/// The longest time without a sign of life.
final class Deadline: Sendable {
    private let wait: Duration
    private let last: Mutex<ContinuousClock.Instant>

    init(_ wait: Duration) {
        self.wait = wait
        last = Mutex(.now)
    }

    /// Begins the time anew.
    func renew() { last.withLock { $0 = .now } }

    /// Runs `work`, and cancels it if it takes longer than the time since the last renewal.
    func limit(_ work: @escaping @Sendable () async throws -> Void) async throws(ClientError) {
        let outcome = await withTaskGroup(of: Result<Void, ClientError>.self) { group in
            group.addTask {
                do {
                    try await work()
                    return .success(())
                } catch let error as ClientError {
                    return .failure(error)
                } catch {
                    return .failure(Task.isCancelled ? .cancelled : .unreachable("\(error)"))
                }
            }
            group.addTask {
                do {
                    while case let end = self.last.withLock({ $0 }) + self.wait, ContinuousClock.now < end {
                        // A server answers in real time, and each renewal moves the end.
                        try await Task.sleep(until: end, clock: .continuous)
                    }
                    return .failure(.timedOut(after: self.wait))
                } catch {
                    return .failure(.cancelled)
                }
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failure(.cancelled)
        }
        try outcome.get()
    }
}

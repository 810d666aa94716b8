/// How often a request is sent again that failed by what may be gone the next moment, and when: after a random part of a pause that
/// doubles, so that many who failed together do not come back together.
package struct Retry: Sendable {
    /// Requests in all.
    let attempts: Int
    private let pause: Duration
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - pause: the longest before the second attempt.
    ///   - random: from 0 to 1.
    ///   - sleep: waiting for an outside host is the purpose; tests give one that does not wait.
    package init(
        attempts: Int = 3, pause: Duration = .milliseconds(100), random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        (self.attempts, self.pause, self.random, self.sleep) = (attempts, pause, random, sleep)
    }

    /// Waits before the attempt after `attempt`, which counts from 1.
    /// - Throws: where the caller is cancelled meanwhile.
    func wait(after attempt: Int) async throws { try await sleep(pause * Double(1 << (attempt - 1)) * random()) }
}

import OnesheetCore

/// Waits for a service that limits the rate of calls, as long as it says. A prefetch has time, and a visitor has not.
package struct Patience: Sendable {
    /// The most attempts of one step.
    private static let attempts = 10
    /// A longer pause is a failure: by then, another run can continue.
    private static let longest = 600

    private let sleep: @Sendable (Duration) async -> Bool

    /// - Parameter sleep: waits for a service, which recovers in real time. Returns `false` if the task was cancelled. Tests replace it.
    package init(sleep: @escaping @Sendable (Duration) async -> Bool = { await sleepUnlessCancelled(for: $0) }) {
        self.sleep = sleep
    }

    /// The result of `work`, which is repeated after each pause that its failure asks for.
    func waiting<Value: Sendable>(
        for work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        for _ in 1..<Self.attempts {
            do throws(Failure) { return try await work() } catch {
                guard error.traits.contains(.pausesPrefetch), case .after(let seconds) = error.retry, seconds <= Self.longest,
                    await sleep(.seconds(seconds))
                else { throw error }
            }
        }
        return try await work()
    }
}

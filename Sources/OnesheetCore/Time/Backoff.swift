/// The pauses between attempts: each is twice as long as the last one, up to a limit.
package struct Backoff: Sendable {
    private let longest: Duration
    private var pause: Duration

    package init(from first: Duration, upTo longest: Duration) {
        pause = first
        self.longest = longest
    }

    /// The pause before the next attempt.
    package mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause
    }
}

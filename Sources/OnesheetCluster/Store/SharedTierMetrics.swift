/// The counters of the shared tier since the start, and its present state.
package struct SharedTierMetrics: Sendable, Equatable {
    package struct Requests: Sendable, Equatable {
        /// The number of requests by outcome.
        package var outcomes: [String: Int] = [:]
        /// The time of those that were sent.
        package var count = 0
        package var seconds = 0.0
    }

    /// Whether the store answers, as far as is known.
    package var isUp = true
    /// By operation: `get`, `put`, `delete`, `list`.
    package var requests: [String: Requests] = [:]
    package var bytesRead = 0
    package var bytesWritten = 0
    /// Entries that wait to be written or are being written, and the bytes of their bodies.
    package var queued = 0
    package var queuedBytes = 0
    /// Entries that were not written, by reason.
    package var dropped: [String: Int] = [:]
    /// Objects that were damaged, and therefore not served and deleted.
    package var damaged = 0

    package init() {}
}

/// The counters of one plugin that several servers share.
public struct SharedCounters: Sendable {
    private let coordinator: any Coordinator
    private let prefix: String

    /// - Parameter prefix: sets the counters of this plugin apart from those of others.
    public init(_ coordinator: any Coordinator, prefix: String) {
        self.coordinator = coordinator
        self.prefix = prefix
    }

    /// Adds to a counter, if it stays within `limit`.
    /// - Parameter floor: the least count that this server knows of. It is brought up to it if it was lost.
    /// - Returns: the new count; `nil` if it would have passed the limit, and then nothing is added.
    public func add(
        _ amount: Int, to name: String, floor: Int = 0, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await coordinator.add(amount, to: prefix + name, floor: floor, limit: limit, milliseconds: milliseconds)
    }

    /// The present count; 0 if there is none.
    public func count(of name: String) async throws(CoordinatorError) -> Int { try await coordinator.count(of: prefix + name) }
}

/// Small named values that survive a restart, such as the count of a quota.
public protocol KeyValueState: Sendable {
    func value(for key: String) async throws -> String?
    /// `nil` removes the value.
    func set(_ value: String?, for key: String) async throws
    /// Changes a value in one atomic step. The default implementation reads and then writes, so one of two concurrent changes may
    /// be lost.
    /// - Parameter body: changes the value in place; `nil` is no value. It may be called more than once.
    /// - Returns: the result of `body`.
    func update<Answer: Sendable>(
        _ key: String, _ body: @escaping @Sendable (inout String?) throws -> Answer
    ) async throws -> Answer
}

extension KeyValueState {
    public func update<Answer: Sendable>(
        _ key: String, _ body: @escaping @Sendable (inout String?) throws -> Answer
    ) async throws -> Answer {
        let before = try await value(for: key)
        var value = before
        let answer = try body(&value)
        if value != before { try await set(value, for: key) }
        return answer
    }
}

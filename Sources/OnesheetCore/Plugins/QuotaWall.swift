internal import FoundationEssentials
internal import Logging

/// Remembers that a service's daily budget of calls is used up, so that nobody asks again before it fills. Survives restarts.
///
/// Time is the service's own: budgets fill at its midnight.
public struct QuotaWall: Sendable {
    private let context: PluginContext
    private let key: String
    private let secondsFromGMT: Int

    /// - Parameters:
    ///   - name: tells several budgets of one plugin apart.
    ///   - secondsFromGMT: the service's time zone (Seoul: 32,400).
    public init(_ name: String = "quota", context: PluginContext, secondsFromGMT: Int) {
        self.context = context
        self.key = "\(name).exhausted-until"
        self.secondsFromGMT = secondsFromGMT
    }

    /// - Throws: `SourceError.quotaExhausted` while the budget is known to be used up.
    public func check() async throws(SourceError) {
        guard let until = await remembered(), until > context.clock.now.timeIntervalSince1970 else { return }
        throw .quotaExhausted(until: until)
    }

    /// Notes that the service has just said that the budget is used up, and gives the error to throw.
    public func close() async -> SourceError {
        let until = CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT).adding(days: 1)
            .start(secondsFromGMT: secondsFromGMT).timeIntervalSince1970
        do {
            try await context.state.set(String(Int(until)), for: key)
        } catch {
            // Costs calls that will be refused, no more.
            context.logger.warning("the end of the quota cannot be kept", metadata: ["error": "\(error)"])
        }
        return .quotaExhausted(until: until)
    }

    private func remembered() async -> Double? {
        do {
            return try await context.state.value(for: key).flatMap(Double.init)
        } catch {
            context.logger.warning("the end of the quota cannot be read", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

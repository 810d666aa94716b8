internal import FoundationEssentials
internal import Logging

/// Counts a day's calls, so that the service never has to refuse one. The count survives a restart.
///
/// Near the wall those who ask go before those who might: what is done with `Urgency.prefetch` may not use the reserve. And among those
/// who ask, questions that anybody can make up (`Familiarity.unknown`) have a share of their own, so that no stranger's curiosity
/// keeps what is known from being asked for again.
public actor CallBudget {
    private let settings: QuotaSettings
    private let share: QuotaShare
    private let key: String
    private let secondsFromGMT: Int
    private let context: PluginContext
    // What this process knows, for when the state cannot be read or written.
    private var day: CalendarDay?
    private var spent = 0
    private var shareFullAt = 0.0

    /// - Parameters:
    ///   - name: tells several budgets of one plugin apart.
    ///   - secondsFromGMT: the service's time zone: budgets fill at its midnight.
    public init(_ settings: QuotaSettings, name: String = "calls", secondsFromGMT: Int, context: PluginContext) {
        (self.key, self.settings, self.secondsFromGMT, self.context) = (name, settings, secondsFromGMT, context)
        share = QuotaShare(calls: Double(settings.perDay) * settings.unknown)
    }

    /// Counts one call. The count is changed in one step, so that neither two tasks nor two processes spend the same call.
    /// - Throws: `SourceError.quotaExhausted` where the day, or the share for what is unknown, has none left for this work.
    public func spend() async throws(SourceError) {
        // Prefetching is the administrator's: the reserve bounds it.
        if Familiarity.current == .unknown, Urgency.current == .interactive, settings.unknown < 1 { try await spendOfShare() }
        try await spendOfDay()
    }

    private func spendOfDay() async throws(SourceError) {
        let today = CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT)
        let limit = settings.limit(Urgency.current)
        if day != today { (day, spent) = (today, 0) }
        let known = spent
        let count: Int?
        do {
            count = try await context.state.update(key) { text -> Int? in
                let count = max(Self.count(text, on: today), known)
                guard count < limit else { return nil }
                text = "\(today) \(count + 1)"
                return count + 1
            }
            // Others may have come here meanwhile: whoever counted more is right.
            if let count, day == today { spent = max(spent, count) }
        } catch {
            context.logger.warning("the count of calls cannot be kept", metadata: ["error": "\(error)"])
            if day != today { (day, spent) = (today, 0) }
            count = spent < limit ? spent + 1 : nil
            spent = count ?? spent
        }
        guard count == nil else { return }
        throw .quotaExhausted(until: today.adding(days: 1).start(secondsFromGMT: secondsFromGMT).timeIntervalSince1970)
    }

    private func spendOfShare() async throws(SourceError) {
        let now = context.clock.now.timeIntervalSince1970
        let share = share
        let outcome: QuotaShare.Outcome
        do {
            outcome = try await context.state.update("\(key).unknown") { text in
                let kept = text.flatMap { Double($0) } ?? 0
                let outcome = share.spend(fullAt: kept.isFinite ? kept : 0, now: now)
                if case .allowed(let fullAt) = outcome { text = "\(fullAt)" }
                return outcome
            }
        } catch {
            context.logger.warning("the count of calls for the unknown cannot be kept", metadata: ["error": "\(error)"])
            outcome = share.spend(fullAt: shareFullAt, now: now)
        }
        switch outcome {
        case .allowed(let fullAt): shareFullAt = fullAt
        case .refused(let until): throw .quotaExhausted(until: until)
        }
    }

    private static func count(_ text: String?, on day: CalendarDay) -> Int {
        let parts = text?.split(separator: " ") ?? []
        return parts.count == 2 && parts[0] == day.description ? max(0, Int(parts[1]) ?? 0) : 0
    }
}

internal import FoundationEssentials
internal import Logging
internal import OnesheetCore

/// Counts a day's calls, so that the service never has to refuse one. The count survives a restart.
actor CallBudget {
    private let perDay: Int
    private let secondsFromGMT: Int
    private let context: PluginContext
    private var day: CalendarDay?
    private var spent = 0

    init(perDay: Int, secondsFromGMT: Int, context: PluginContext) {
        (self.perDay, self.secondsFromGMT, self.context) = (perDay, secondsFromGMT, context)
    }

    /// Counts one call.
    /// - Throws: `SourceError.quotaExhausted` where the day has none left.
    func spend() async throws(SourceError) {
        let today = CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT)
        if day != today {
            let kept = await kept(today)
            // Somebody else may have come here first meanwhile.
            if day != today { (day, spent) = (today, kept) }
        }
        guard spent < perDay else {
            throw .quotaExhausted(until: today.adding(days: 1).start(secondsFromGMT: secondsFromGMT).timeIntervalSince1970)
        }
        spent += 1
        await keep(today, spent)
    }

    private func kept(_ day: CalendarDay) async -> Int {
        do {
            let parts = try await context.state.value(for: "calls")?.split(separator: " ").map(String.init) ?? []
            return parts.count == 2 && parts[0] == day.description ? Int(parts[1]) ?? 0 : 0
        } catch {
            context.logger.warning("the count of calls cannot be read", metadata: ["error": "\(error)"])
            return 0
        }
    }

    private func keep(_ day: CalendarDay, _ count: Int) async {
        do {
            try await context.state.set("\(day) \(count)", for: "calls")
        } catch {
            context.logger.warning("the count of calls cannot be kept", metadata: ["error": "\(error)"])
        }
    }
}

internal import FoundationEssentials
internal import Logging

/// How many calls a service allows in a day.
public struct QuotaSettings: Sendable, Decodable, Equatable {
    public var perDay: Int
    /// The share that is kept for people who ask: work that is done before anyone asks stops there.
    public var reserve: Double

    private enum CodingKeys: CodingKey { case perDay, reserve }

    /// - Precondition: `perDay` is positive and `reserve` a share from 0 to 1.
    public init(perDay: Int, reserve: Double = 0.1) {
        precondition(perDay > 0 && (0...1).contains(reserve), "a quota has calls, and a share of them is kept")
        (self.perDay, self.reserve) = (perDay, reserve)
    }

    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        let perDay = try keys.decode(Int.self, forKey: .perDay)
        let reserve = try keys.decodeIfPresent(Double.self, forKey: .reserve) ?? 0.1
        guard perDay > 0 else {
            throw ConfigurationError(path: keys.codingPath + [CodingKeys.perDay], message: "needs a number from 1")
        }
        guard (0...1).contains(reserve) else {
            throw ConfigurationError(
                path: keys.codingPath + [CodingKeys.reserve], message: "needs a share from 0 to 1, such as 0.1")
        }
        self.init(perDay: perDay, reserve: reserve)
    }
}

/// Counts a day's calls, so that the service never has to refuse one. The count survives a restart.
///
/// Near the wall those who ask go before those who might: what is done with `Urgency.prefetch` may not use the reserve.
public actor CallBudget {
    private let settings: QuotaSettings
    private let key: String
    private let secondsFromGMT: Int
    private let context: PluginContext
    private var day: CalendarDay?
    private var spent = 0

    /// - Parameters:
    ///   - name: tells several budgets of one plugin apart.
    ///   - secondsFromGMT: the service's time zone: budgets fill at its midnight.
    public init(_ settings: QuotaSettings, name: String = "calls", secondsFromGMT: Int, context: PluginContext) {
        (self.key, self.settings, self.secondsFromGMT, self.context) = (name, settings, secondsFromGMT, context)
    }

    /// Counts one call.
    /// - Throws: `SourceError.quotaExhausted` where the day has none left for work of this urgency.
    public func spend() async throws(SourceError) {
        let today = CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT)
        let kept = await kept(today)
        // Others may have come here meanwhile, in this process or in another: whoever counted more is right.
        if day != today { (day, spent) = (today, 0) }
        spent = max(spent, kept)
        let reserved = Int((Double(settings.perDay) * settings.reserve).rounded(.up))
        guard spent < settings.perDay - (Urgency.current == .prefetch ? reserved : 0) else {
            throw .quotaExhausted(until: today.adding(days: 1).start(secondsFromGMT: secondsFromGMT).timeIntervalSince1970)
        }
        spent += 1
        await keep(today, spent)
    }

    private func kept(_ day: CalendarDay) async -> Int {
        do {
            let parts = try await context.state.value(for: key)?.split(separator: " ").map(String.init) ?? []
            return parts.count == 2 && parts[0] == day.description ? Int(parts[1]) ?? 0 : 0
        } catch {
            context.logger.warning("the count of calls cannot be read", metadata: ["error": "\(error)"])
            return 0
        }
    }

    private func keep(_ day: CalendarDay, _ count: Int) async {
        do {
            try await context.state.set("\(day) \(count)", for: key)
        } catch {
            context.logger.warning("the count of calls cannot be kept", metadata: ["error": "\(error)"])
        }
    }
}

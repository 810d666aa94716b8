internal import FoundationEssentials
internal import Logging

/// A service's daily quota of calls. Counts calls, so that the service rarely has to refuse one, and remembers that the service
/// reported an exhausted quota. Both survive a restart. The quota resets at midnight in the service's time zone.
///
/// Prefetching (`Urgency.prefetch`) leaves a reserve for interactive calls. Interactive calls about unknown titles
/// (`Familiarity.unknown`) share a token bucket, so that strangers cannot use up the calls that refresh known titles.
public actor DailyQuota {
    private let settings: QuotaSettings?
    private let unknown: TokenBucket?
    private let exhaustedKey: String
    private let countKey: String
    private let secondsFromGMT: Int
    private let context: PluginContext
    // A copy in this process, in case the state cannot be read or written.
    private var day: CalendarDay?
    private var spent = 0
    private var bucketFullAt = 0.0

    /// - Parameters:
    ///   - settings: the calls of a day; `nil` counts no calls and only remembers an exhausted quota.
    ///   - name: distinguishes several quotas of one plugin.
    ///   - countKey: the key of the count in the plugin's state; `name` with `.calls` by default.
    ///   - secondsFromGMT: the service's time zone (Seoul: 32,400).
    public init(
        _ settings: QuotaSettings? = nil, name: String = "quota", countKey: String? = nil, secondsFromGMT: Int,
        context: PluginContext
    ) {
        self.settings = settings
        self.exhaustedKey = "\(name).exhausted-until"
        self.countKey = countKey ?? "\(name).calls"
        self.secondsFromGMT = secondsFromGMT
        self.context = context
        unknown = settings.flatMap { $0.unknown < 1 ? TokenBucket(calls: Double($0.perDay) * $0.unknown) : nil }
    }

    /// Counts one call, in one atomic step: neither two tasks nor two processes spend the same call.
    /// - Throws: `SourceError.quotaExhausted` if the service has reported an exhausted quota today, or if no call of the day or of
    ///   the share for unknown titles is left for this urgency.
    public func spend() async throws(SourceError) {
        let now = context.clock.now.timeIntervalSince1970
        if let until = await exhaustedUntil(), until > now { throw .quotaExhausted(until: until) }
        guard let settings else { return }
        // The administrator starts prefetches, so only the reserve bounds them.
        if let unknown, Familiarity.current == .unknown, Urgency.current == .interactive { try await spend(from: unknown) }
        try await spendOfDay(settings)
    }

    /// Remembers that the service reported an exhausted quota.
    /// - Returns: the error to throw.
    public func exhaust() async -> SourceError {
        let until = resetAfter(CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT))
        do {
            try await context.state.set(String(Int(until)), for: exhaustedKey)
        } catch {
            // A failure costs only calls that the service refuses.
            context.logger.warning("the reset of the quota cannot be stored", metadata: ["error": "\(error)"])
        }
        return .quotaExhausted(until: until)
    }

    private func exhaustedUntil() async -> Double? {
        do {
            return try await context.state.value(for: exhaustedKey).flatMap(Double.init)
        } catch {
            context.logger.warning("the reset of the quota cannot be read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func spendOfDay(_ settings: QuotaSettings) async throws(SourceError) {
        let today = CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT)
        let limit = settings.limit(Urgency.current)
        if day != today { (day, spent) = (today, 0) }
        let known = spent
        let count: Int?
        do {
            count = try await context.state.update(countKey) { text -> Int? in
                let count = max(Self.count(text, on: today), known)
                guard count < limit else { return nil }
                text = "\(today) \(count + 1)"
                return count + 1
            }
            // Other tasks may have written the count meanwhile. The highest is correct.
            if let count, day == today { spent = max(spent, count) }
        } catch {
            context.logger.warning("the count of calls cannot be stored", metadata: ["error": "\(error)"])
            if day != today { (day, spent) = (today, 0) }
            count = spent < limit ? spent + 1 : nil
            spent = count ?? spent
        }
        if count == nil { throw .quotaExhausted(until: resetAfter(today)) }
    }

    private func spend(from bucket: TokenBucket) async throws(SourceError) {
        let now = context.clock.now.timeIntervalSince1970
        let outcome: TokenBucket.Outcome
        do {
            outcome = try await context.state.update("\(countKey).unknown") { text in
                let kept = text.flatMap { Double($0) } ?? 0
                let outcome = bucket.spend(fullAt: kept.isFinite ? kept : 0, now: now)
                if case .allowed(let fullAt) = outcome { text = "\(fullAt)" }
                return outcome
            }
        } catch {
            context.logger.warning("the count of calls for unknown titles cannot be stored", metadata: ["error": "\(error)"])
            outcome = bucket.spend(fullAt: bucketFullAt, now: now)
        }
        switch outcome {
        case .allowed(let fullAt): bucketFullAt = fullAt
        case .refused(let until): throw .quotaExhausted(until: until)
        }
    }

    private func resetAfter(_ day: CalendarDay) -> Double {
        day.adding(days: 1).start(secondsFromGMT: secondsFromGMT).timeIntervalSince1970
    }

    private static func count(_ text: String?, on day: CalendarDay) -> Int {
        let parts = text?.split(separator: " ") ?? []
        return parts.count == 2 && parts[0] == day.description ? max(0, Int(parts[1]) ?? 0) : 0
    }
}

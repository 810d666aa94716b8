internal import FoundationEssentials
internal import Logging

/// A service's daily quota of calls. Counts calls, so that the service rarely has to refuse one, and remembers that the service
/// reported an exhausted quota. Both survive a restart. The quota resets at midnight in the service's time zone.
///
/// Prefetching (`Urgency.prefetch`) leaves a reserve for interactive calls. Interactive calls about unknown titles
/// (`Familiarity.unknown`) share a token bucket, so that strangers cannot use up the calls that refresh known titles. One client gets at
/// most as much of it as it leaves to others (`ClientShares`).
///
/// If several servers share counters (`PluginContext.counters`), they spend the calls of one quota together. Each sets a hundredth
/// aside for interactive calls while the counters cannot be reached; after those, it makes no calls.
public actor DailyQuota {
    private let settings: QuotaSettings?
    private let unknown: TokenBucket?
    private let name: String
    private let exhaustedKey: String
    private let countKey: String
    private let secondsFromGMT: Int
    private let context: PluginContext
    // A copy in this process, in case the state cannot be read or written.
    private var day: CalendarDay?
    private var spent = 0
    private var bucketFullAt = 0.0
    private let shares = ClientShares()

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
        self.name = name
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
        if let until = await exhaustedUntil() { throw .quotaExhausted(until: until) }
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

    /// The present state of the quota. Spends nothing.
    public func report() async -> QuotaReport {
        let now = context.clock.now
        let today = CalendarDay(now, secondsFromGMT: secondsFromGMT)
        let until = await exhaustedUntil()
        var count = day == today ? spent : 0
        do {
            count = max(count, SharedQuota.count(try await context.state.value(for: countKey), on: today))
            if settings != nil, let counters = context.counters {
                count = max(count, try await counters.count(of: "quota:\(name):\(today)"))
            }
        } catch {
            context.logger.debug("the count of calls cannot be read", metadata: ["error": "\(error)"])
        }
        return QuotaReport(
            name: name, perDay: settings?.perDay, spent: settings == nil ? nil : count,
            reserve: settings.map { $0.perDay - $0.limit(.prefetch) },
            isExhausted: until != nil || settings.map { count >= $0.perDay } ?? false,
            fullAt: Date(timeIntervalSince1970: until ?? resetAfter(today)))
    }

    /// The time until which the service reported an exhausted quota; `nil` if there is none. It is at most the next reset: a later time
    /// was recorded when the clock was ahead.
    private func exhaustedUntil() async -> Double? {
        let now = context.clock.now
        do {
            guard let until = try await context.state.value(for: exhaustedKey).flatMap(Double.init),
                until > now.timeIntervalSince1970, until <= resetAfter(CalendarDay(now, secondsFromGMT: secondsFromGMT))
            else { return nil }
            return until
        } catch {
            context.logger.warning("the time at which the quota resets cannot be read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func spendOfDay(_ settings: QuotaSettings) async throws(SourceError) {
        let today = CalendarDay(context.clock.now, secondsFromGMT: secondsFromGMT)
        let limit = settings.limit(Urgency.current)
        if day != today { (day, spent) = (today, 0) }
        let known = spent
        if let counters = context.counters {
            let shared = SharedQuota(
                settings: settings, day: today, counter: "quota:\(name):\(today)", countKey: countKey, counters: counters,
                state: context.state, logger: context.logger)
            switch await shared.spend(known: known) {
            case .spent(let count): if day == today { spent = max(spent, count) }
            case .exhausted: throw .quotaExhausted(until: resetAfter(today))
            case .unreachable:
                throw .quotaExhausted(until: context.clock.now.timeIntervalSince1970 + SharedQuota.pause)
            }
            return
        }
        let count: Int?
        do {
            count = try await context.state.update(countKey) { text -> Int? in
                let count = max(SharedQuota.count(text, on: today), known)
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
        let clients = WorkContext.current.clients.all
        let spend = { @Sendable [shares] (fullAt: Double) -> TokenBucket.Outcome in
            let outcome = bucket.spend(fullAt: fullAt, now: now)
            guard case .allowed = outcome else { return outcome }
            let left = bucket.left(fullAt: fullAt, now: now)
            return shares.spend(for: clients, left: left, of: bucket, at: now).map { .refused(until: $0) } ?? outcome
        }
        let outcome: TokenBucket.Outcome
        do {
            outcome = try await context.state.update("\(countKey).unknown") { text in
                let kept = text.flatMap { Double($0) } ?? 0
                let outcome = spend(kept.isFinite ? kept : 0)
                if case .allowed(let fullAt) = outcome { text = "\(fullAt)" }
                return outcome
            }
        } catch {
            context.logger.warning("the count of calls for unknown titles cannot be stored", metadata: ["error": "\(error)"])
            outcome = spend(bucketFullAt)
        }
        switch outcome {
        case .allowed(let fullAt): bucketFullAt = fullAt
        case .refused(let until): throw .quotaExhausted(until: until)
        }
    }

    private func resetAfter(_ day: CalendarDay) -> Double {
        day.adding(days: 1).start(secondsFromGMT: secondsFromGMT).timeIntervalSince1970
    }
}

/// The daily quota of a service.
public struct QuotaSettings: Sendable, Decodable, Equatable {
    /// Calls of one day.
    public var perDay: Int
    /// The share that is reserved for interactive calls. Prefetching stops there.
    public var reserve: Double
    /// The share for calls about unknown titles (`Familiarity`). A quarter of it is available at once and the rest over the day; 1
    /// is no limit.
    public var unknown: Double

    private enum CodingKeys: CodingKey { case perDay, reserve, unknown }

    /// - Precondition: `perDay` is positive, `reserve` and `unknown` are shares from 0 to 1.
    public init(perDay: Int, reserve: Double = 0.1, unknown: Double = 0.5) {
        precondition(perDay > 0 && (0...1).contains(reserve), "a quota has calls, and a share of them is kept")
        precondition((0...1).contains(unknown), "what is unknown has a share of the calls")
        self.perDay = perDay
        self.reserve = reserve
        self.unknown = unknown
    }

    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        let perDay = try keys.decode(Int.self, forKey: .perDay)
        guard perDay > 0 else {
            throw ConfigurationError(path: keys.codingPath + [CodingKeys.perDay], message: "needs a number from 1")
        }
        self.init(
            perDay: perDay, reserve: try Self.share(.reserve, in: keys) ?? 0.1, unknown: try Self.share(.unknown, in: keys) ?? 0.5)
    }

    private static func share(_ key: CodingKeys, in keys: KeyedDecodingContainer<CodingKeys>) throws -> Double? {
        guard let share = try keys.decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard (0...1).contains(share) else {
            throw ConfigurationError(path: keys.codingPath + [key], message: "needs a share from 0 to 1, such as 0.1")
        }
        return share
    }

    /// The calls of a day that work of this urgency may use.
    func limit(_ urgency: Urgency) -> Int {
        urgency == .prefetch ? perDay - Int((Double(perDay) * reserve).rounded(.up)) : perDay
    }
}

/// A share of a day's calls as a token bucket. A quarter of the share is available at once and the rest over the day, so no burst
/// takes all of it. Any 24 hours have at most as many calls as the share.
///
/// The whole state is the time at which the bucket will be full (GCRA, ITU-T I.371). It survives a restart as one number.
struct TokenBucket: Sendable {
    /// Calls that a full bucket allows at once; 0 never allows any.
    let capacity: Double
    /// Seconds for one more call.
    let interval: Double

    /// - Parameter calls: the share of a day, in calls.
    init(calls: Double) {
        capacity = calls > 0 ? max(1, (calls / 4).rounded(.down)) : 0
        // A share of one call or less is one call in the corresponding number of days.
        interval = calls > 0 ? 86_400 / (calls > capacity ? calls - capacity : calls) : 0
    }

    /// - Parameter burst: calls at once.
    init(perSecond: Double, burst: Int) {
        capacity = Double(burst)
        interval = 1 / perSecond
    }

    /// The outcome of a call; times are seconds since 1970.
    enum Outcome: Sendable, Equatable {
        /// The time at which the bucket will be full after the call.
        case allowed(fullAt: Double)
        /// The time of the next allowed call; `nil` is never.
        case refused(until: Double?)
    }

    /// The outcome of a call at `now` on a bucket that is full at `fullAt`.
    func spend(fullAt: Double, now: Double) -> Outcome {
        guard capacity > 0 else { return .refused(until: nil) }
        let width = capacity * interval
        let next = possible(fullAt, now) + interval
        // A tolerance, because sums of many intervals are not exact. It is less than an interval: `possible` takes more for another clock.
        return next - now <= width + min(0.001, interval / 2) ? .allowed(fullAt: next) : .refused(until: next - width)
    }

    /// The calls that are left at `now` in a bucket that is full at `fullAt`.
    func left(fullAt: Double, now: Double) -> Double {
        interval > 0 ? capacity - (possible(fullAt, now) - now) / interval : 0
    }

    /// A time beyond that of an empty bucket was written before the clock was set back.
    private func possible(_ fullAt: Double, _ now: Double) -> Double {
        fullAt > now && fullAt <= now + (capacity + 1) * interval ? fullAt : now
    }
}

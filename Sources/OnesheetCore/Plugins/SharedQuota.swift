internal import Logging

/// The calls of one day that several servers spend together.
///
/// Each call is counted by the coordinator, so all servers together never make more than the quota has. A server also sets some calls
/// aside, which are counted already, for the time in which the coordinator cannot be reached.
struct SharedQuota: Sendable {
    let settings: QuotaSettings
    let day: CalendarDay
    /// The name of the counter.
    let counter: String
    /// The key of the highest known count in the state. A server without others counts there too.
    let countKey: String
    let counters: SharedCounters
    let state: any KeyValueState
    let logger: Logger

    /// Seconds after which a call that found no coordinator may be tried again.
    static let pause = 10.0
    /// The lifetime of a counter in milliseconds: longer than a day in every time zone.
    private static let lifetime = 50 * 3_600_000

    enum Outcome: Sendable, Equatable {
        /// The calls that all servers have spent by now, as far as this one knows.
        case spent(Int)
        case exhausted
        /// The coordinator cannot be reached, and no reserved calls are left.
        case unreachable
    }

    /// The calls to set aside.
    private var batch: Int { settings.perDay / 100 }

    /// Spends one call.
    /// - Parameter known: the highest count that this process knows.
    func spend(known: Int) async -> Outcome {
        let known = max(known, await stored())
        do throws(CoordinatorError) {
            let count = try await counters.add(
                1, to: counter, floor: known, limit: settings.limit(Urgency.current), milliseconds: Self.lifetime)
            guard let count else {
                return await spendAside() ? .spent(known) : .exhausted
            }
            await keep(count)
            await setAside()
            return .spent(count)
        } catch {
            logger.warning("calls cannot be counted together with other servers", metadata: ["error": "\(error)"])
            return await spendAside() ? .spent(known) : .unreachable
        }
    }

    /// Sets calls aside once a day. Prefetching does not use them.
    private func setAside() async {
        guard batch > 0 else { return }
        do {
            let isNew = try await state.update(asideKey) { [day] text in
                guard Self.aside(text, on: day) == nil else { return false }
                // None yet: another task must not reserve calls too.
                text = "\(day) 0"
                return true
            }
            guard isNew else { return }
            let count: Int?
            do {
                count = try await counters.add(batch, to: counter, limit: settings.perDay, milliseconds: Self.lifetime)
            } catch {
                // The next call tries again.
                try await state.set(nil, for: asideKey)
                throw error
            }
            if count != nil { try await state.set("\(day) \(batch)", for: asideKey) }
        } catch {
            logger.warning("no calls can be set aside", metadata: ["error": "\(error)"])
        }
    }

    /// Spends a call that was set aside.
    private func spendAside() async -> Bool {
        guard Urgency.current == .interactive else { return false }
        do {
            return try await state.update(asideKey) { [day] text in
                guard let left = Self.aside(text, on: day), left > 0 else { return false }
                text = "\(day) \(left - 1)"
                return true
            }
        } catch {
            logger.warning("calls that were set aside cannot be read", metadata: ["error": "\(error)"])
            return false
        }
    }

    private var asideKey: String { "\(countKey).aside" }

    private func stored() async -> Int {
        do {
            return Self.count(try await state.value(for: countKey), on: day)
        } catch {
            logger.warning("the count of calls cannot be read", metadata: ["error": "\(error)"])
            return 0
        }
    }

    private func keep(_ count: Int) async {
        do {
            try await state.update(countKey) { [day] text in
                if count > Self.count(text, on: day) { text = "\(day) \(count)" }
            }
        } catch {
            logger.warning("the count of calls cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// The count of `day` in a stored text; 0 if it is of another day.
    static func count(_ text: String?, on day: CalendarDay) -> Int { aside(text, on: day) ?? 0 }

    /// The number of `day` in a stored text; `nil` if it is of another day.
    private static func aside(_ text: String?, on day: CalendarDay) -> Int? {
        let parts = text?.split(separator: " ") ?? []
        return parts.count == 2 && parts[0] == day.description ? max(0, Int(parts[1]) ?? 0) : nil
    }
}

import OnesheetCore

/// How many may work in one lane of `Slots`, and who may wait.
struct SlotRules: Sendable {
    /// Who may wait when all places are taken.
    enum Waiting: Sendable {
        /// Up to this many. In a full line, the last one of the client with the most makes room for a client with fewer.
        case everybody(Int)
        /// Clients with less work in the lane than the busiest one. Others are refused.
        case whoHoldsLess
    }

    /// The longest wait for a place. Few people wait longer for a page.
    static let longestWait = Duration.seconds(30)

    let places: Int
    let waiting: Waiting
    /// The most hung work beside which others get places.
    var beside = 0
    /// Seconds without progress after which work hangs.
    var silence = 1.0
    /// Seconds that further hung work may stay while others wait.
    var patience = 2.5
}

/// Why work gets no place.
enum NoPlace: Error, Equatable {
    /// Too many wait, or the wait was too long. Room is likely after `retryAfter` seconds.
    case full(retryAfter: Int)
    /// Work that does not end holds all places.
    case hung
    /// The caller was cancelled.
    case cancelled

    /// Seconds after which to try again.
    var retryAfter: Int {
        if case .full(let seconds) = self { return seconds }
        return 1
    }
}

/// One lane of `Slots`: the work in it and those who wait, in turns by client.
///
/// Times are seconds since an arbitrary start.
struct SlotLine<Waiter: Sendable>: Sendable {
    enum Entry {
        case now
        case later(displaced: Waiter?, NoPlace)
        case refused(NoPlace)
    }

    /// The largest lead of a client over the others, in turns.
    private static var longestDebt: Double { 64 }

    private let rules: SlotRules
    private var running: [UInt64: ClientKey] = [:]
    private var hung: Set<UInt64> = []
    private var waiting = FairQueue<Waiter>(longestDebt: longestDebt)
    private var estimator = RetryAfterEstimator()
    /// The time of the next start, and the time between two starts.
    private var pace = (next: -Double.infinity, interval: 0.0)
    /// Whether a timer will begin the next one.
    var hasTimer = false

    init(_ rules: SlotRules) { self.rules = rules }

    /// Running and waiting work.
    var load: Int { running.count + waiting.count }

    /// Changes the line in its place, without a copy.
    mutating func change<Value>(_ body: (inout Self) -> Value) -> Value { body(&self) }

    /// Whether nothing has to be remembered.
    func isIdle(at now: Double) -> Bool { load == 0 && pace.next <= now }

    /// The time until the next one in line may begin, if only the pace is in its way.
    func pause(at now: Double) -> Double? { waiting.count > 0 && hasPlace && pace.next > now ? pace.next - now : nil }

    private var hasPlace: Bool { running.count - min(hung.count, rules.beside) < rules.places }

    /// - Parameters:
    ///   - ticket: a unique ticket.
    ///   - clients: the clients that wait for it. The one with the fewest waiting brings it, and the others lend it their turns (`lend`).
    ///   - interval: the time between two starts in this lane.
    ///   - limit: the longest wait.
    mutating func enter(
        _ waiter: Waiter, ticket: UInt64, for clients: [ClientKey], every interval: Double, within limit: Double, at now: Double
    ) -> Entry {
        // After a rest, no client has a lead.
        if isIdle(at: now) { waiting = FairQueue(longestDebt: Self.longestDebt) }
        pace.interval = interval
        let client = waiting.least(of: clients)
        if waiting.count == 0, hasPlace, pace.next <= now {
            waiting.serve(1, to: client)
            begin(ticket, of: client, at: now)
            return .now
        }
        guard limit > 0, hung.count < rules.places || rules.beside > 0 else { return .refused(refusal(at: now)) }
        if case .whoHoldsLess = rules.waiting, !holdsLess(client) { return .refused(refusal(at: now)) }
        let displaced = isFull(within: limit, at: now) ? waiting.displace(for: client)?.element : nil
        guard displaced != nil || !isFull(within: limit, at: now) else { return .refused(refusal(at: now)) }
        defer { waiting.append(ticket, waiter, for: client) }
        return .later(displaced: displaced, refusal(at: now))
    }

    /// What a newcomer is told.
    func refusal(at now: Double) -> NoPlace {
        let paced = max(0, pace.next - now) + Double(waiting.count) * pace.interval
        return .full(
            retryAfter: max(
                estimator.retryAfter(waiting: waiting.count, places: rules.places), Int(min(paced, 86_400).rounded(.up))))
    }

    /// Lets `client` wait for the work of `ticket` too, if it waits.
    mutating func lend(_ ticket: UInt64, to client: ClientKey) { waiting.lend(ticket, to: client) }

    private func isFull(within limit: Double, at now: Double) -> Bool {
        let most = if case .everybody(let most) = rules.waiting { most } else { rules.places }
        return waiting.count >= most || pace.next - now + Double(waiting.count) * pace.interval > limit
    }

    /// Whether `client` would still have less than the client with the most running work.
    private func holdsLess(_ client: ClientKey) -> Bool {
        let held = running.values.reduce(into: [ClientKey: Int]()) { $0[$1, default: 0] += 1 }
        return (held[client] ?? 0) + waiting.count(of: client) + 1 < held.values.max() ?? 0
    }

    private mutating func begin(_ ticket: UInt64, of client: ClientKey, at now: Double) {
        running[ticket] = client
        pace.next = max(pace.next, now) + pace.interval
    }

    /// The waiters that begin now.
    mutating func beginNext(at now: Double) -> [Waiter] {
        var begun: [Waiter] = []
        while hasPlace, pace.next <= now, let next = waiting.removeFirst() {
            waiting.charge(1, to: next.client)
            begin(next.ticket, of: next.client, at: now)
            begun.append(next.element)
        }
        return begun
    }

    /// Removes the waiter of `ticket`, if it waits.
    mutating func remove(_ ticket: UInt64) -> Waiter? { waiting.remove(ticket)?.element }

    /// Ends the work of `ticket`.
    /// - Parameter seconds: how long it held its place.
    mutating func leave(_ ticket: UInt64, after seconds: Double) {
        running[ticket] = nil
        hung.remove(ticket)
        estimator.add(seconds)
    }

    /// Whether the work of `ticket` may continue after `seconds` without progress. If it hangs, another one may begin beside it.
    /// - Parameter usual: the seconds that such work usually takes until its first progress. What is always slow does not hang.
    mutating func mayStay(_ ticket: UInt64, after seconds: Double, usual: Double) -> Bool {
        guard running[ticket] != nil else { return true }
        guard seconds >= max(rules.silence, 4 * usual) else {
            hung.remove(ticket)
            return true
        }
        if hung.contains(ticket) { return true }
        guard hung.count < rules.beside else { return waiting.count == 0 || seconds < max(rules.patience, 4 * usual) }
        hung.insert(ticket)
        return true
    }

    /// Records that the work of `ticket` does not end.
    /// - Returns: the waiters, if no place is left that will be free again.
    mutating func hang(_ ticket: UInt64) -> [Waiter] {
        guard running[ticket] != nil else { return [] }
        hung.insert(ticket)
        return hung.count < rules.places ? [] : waiting.removeAll()
    }
}

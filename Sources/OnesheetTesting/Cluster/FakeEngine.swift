internal import OnesheetCore

/// The contents of a `FakeCoordinator`. Times are milliseconds since 1970.
struct FakeEngine {
    private struct Lease {
        var holder: ExactText
        var token: Int
        var end: Double
    }

    private struct Log {
        var epoch: String
        var records: [LogPage.Record] = []
        var end = LogPosition.start
        /// The position of the newest record that was trimmed.
        var trimmed = LogPosition.start

        /// Whether the log has, or may have had, a record at `position`.
        func knows(_ position: LogPosition) -> Bool {
            position == .start || position == end || position <= trimmed || records.contains { $0.position == position }
        }
    }

    private var leases: [ExactText: Lease] = [:]
    /// Until when the work of a lease is known to be done.
    private var done: [ExactText: Double] = [:]
    private var logs: [ExactText: Log] = [:]
    private var counters: [ExactText: (count: Int, end: Double)] = [:]
    private var token = 0
    private var epoch = 0

    init() {}

    /// An engine that has lost what `other` had.
    init(after other: Self) {
        token = other.token
        epoch = other.epoch
    }

    func isHeld(_ name: String, at now: Double) -> Bool { (leases[ExactText(name)]?.end ?? 0) > now }

    mutating func acquire(_ name: String, for holder: String, milliseconds: Int, at now: Double) -> LeaseAnswer {
        let holder = ExactText(holder)
        let end = now + Double(max(1, milliseconds))
        let isDone = (done[ExactText(name)] ?? 0) > now
        if let lease = leases[ExactText(name)], lease.end > now {
            guard lease.holder == holder else { return .held(milliseconds: max(1, Int((lease.end - now).rounded(.up)))) }
            leases[ExactText(name)]?.end = end
            return .granted(token: lease.token, isDone: isDone)
        }
        token += 1
        leases[ExactText(name)] = Lease(holder: holder, token: token, end: end)
        return .granted(token: token, isDone: isDone)
    }

    mutating func renew(_ name: String, for holder: String, milliseconds: Int, at now: Double) -> Bool {
        guard let lease = leases[ExactText(name)], lease.end > now, lease.holder == ExactText(holder) else { return false }
        leases[ExactText(name)]?.end = now + Double(max(1, milliseconds))
        return true
    }

    mutating func release(_ name: String, for holder: String, doneFor milliseconds: Int, at now: Double) {
        if milliseconds > 0 { done[ExactText(name)] = now + Double(milliseconds) }
        guard let lease = leases[ExactText(name)], lease.end > now, lease.holder == ExactText(holder) else { return }
        leases[ExactText(name)] = nil
    }

    mutating func append(_ record: String, to log: String, at now: Double) -> LogPosition {
        changeLog(log) { log in
            let next = LogPosition(milliseconds: Int(now), number: 0)
            log.end = next > log.end ? next : LogPosition(milliseconds: log.end.milliseconds, number: log.end.number + 1)
            log.records.append(.init(position: log.end, text: record))
            return log.end
        }
    }

    /// A reader that was further than the log shows that records were lost, so a new epoch begins. A reader of an earlier epoch shows
    /// nothing new.
    mutating func read(_ log: String, after position: LogPosition?, of known: String?, limit: Int) -> LogPage {
        let isForeign = changeLog(log) { log in known.map { !$0.isEmpty && $0 != log.epoch } ?? false }
        if isForeign {
            return changeLog(log) { log in LogPage(records: [], epoch: log.epoch, end: log.end, isComplete: false) }
        }
        let isLost = changeLog(log) { log in position.map { !log.knows($0) } ?? false }
        let epoch = isLost ? nextEpoch() : nil
        return changeLog(log) { log in
            log.epoch = epoch ?? log.epoch
            guard let position else { return LogPage(records: [], epoch: log.epoch, end: log.end, isComplete: true) }
            let records = log.records.drop { $0.position <= position }.prefix(max(1, limit))
            return LogPage(
                records: Array(records), epoch: log.epoch, end: log.end, isComplete: !isLost && position >= log.trimmed)
        }
    }

    func records(of log: String) -> [LogPage.Record] { logs[ExactText(log)]?.records ?? [] }

    mutating func trim(_ log: String, to count: Int) {
        changeLog(log) { log in
            log.trimmed = log.records.dropLast(count).last?.position ?? log.trimmed
            log.records = log.records.suffix(count)
        }
    }

    mutating func loseLast(_ count: Int, of log: String) {
        changeLog(log) { log in
            log.records.removeLast(min(count, log.records.count))
            log.end = log.records.last?.position ?? log.trimmed
        }
    }

    mutating func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int, at now: Double
    ) -> Int? {
        let old = counters[ExactText(counter)].flatMap { $0.end > now ? $0 : nil }
        let count = max(old?.count ?? 0, floor)
        if amount > 0, amount > limit - count { return nil }
        guard old != nil || amount > 0 else { return 0 }
        let sum = max(0, count + amount)
        counters[ExactText(counter)] = (sum, old?.end ?? now + Double(max(1, milliseconds)))
        return sum
    }

    func count(of counter: String, at now: Double) -> Int {
        counters[ExactText(counter)].flatMap { $0.end > now ? $0.count : nil } ?? 0
    }

    private mutating func changeLog<Answer>(_ name: String, _ change: (inout Log) -> Answer) -> Answer {
        let name = ExactText(name)
        var log = logs[name] ?? Log(epoch: nextEpoch())
        defer { logs[name] = log }
        return change(&log)
    }

    private mutating func nextEpoch() -> String {
        epoch += 1
        return "epoch \(epoch)"
    }
}

import FoundationEssentials
import OnesheetCore
import Synchronization

/// The metrics of the last hour, one reading every ten seconds.
final class MetricHistory: Sendable {
    /// Seconds between readings.
    static let interval = 10
    /// The maximum number of readings: those of an hour.
    static let maxReadings = 360

    /// Figures by name.
    struct Reading: Sendable {
        var gauges: [String: Double] = [:]
        /// Counts since the start. The history keeps their increase since the previous reading.
        var counters: [String: Double] = [:]
        /// Counts and sums since the start. The history keeps the mean of their increase.
        var means: [String: (count: Double, sum: Double)] = [:]
    }

    /// The quotas of one source.
    struct SourceQuotas: Encodable, Sendable {
        let source: String
        let quotas: [QuotaReport]
    }

    private struct Document: Encodable {
        let interval: Int
        /// The time of the last reading. The others precede it, `interval` seconds apart.
        let last: Date
        /// Values by name, oldest first; `null` if a reading has no value.
        let series: [String: [Double?]]
        let quotas: [SourceQuotas]
    }

    private struct State {
        var before: Reading?
        var rows: [[String: Double]] = []
        var document = "{}"
    }

    private let state = Mutex(State())

    /// The history as JSON, encoded once for each reading.
    var document: String { state.withLock { $0.document } }

    /// Adds a reading. The first one is only the base of the second.
    func add(_ reading: Reading, _ quotas: [SourceQuotas], at now: Date) throws {
        try state.withLock { state in
            if let before = state.before { state.rows.append(Self.row(reading, since: before)) }
            state.before = reading
            if state.rows.count > Self.maxReadings { state.rows.removeFirst(state.rows.count - Self.maxReadings) }
            let names = Set(state.rows.flatMap(\.keys))
            let series = Dictionary(uniqueKeysWithValues: names.map { name in (name, state.rows.map { $0[name] }) })
            let document = Document(interval: Self.interval, last: now, series: series, quotas: quotas)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .iso8601
            state.document = String(decoding: try encoder.encode(document), as: UTF8.self)
        }
    }

    private static func row(_ reading: Reading, since before: Reading) -> [String: Double] {
        var row = reading.gauges
        for (name, value) in reading.counters { row[name] = max(0, value - (before.counters[name] ?? 0)) }
        for (name, value) in reading.means {
            let old = before.means[name] ?? (0, 0)
            if value.count > old.count { row[name] = (value.sum - old.sum) / (value.count - old.count) }
        }
        return row.mapValues { ($0 * 1000).rounded() / 1000 }
    }
}

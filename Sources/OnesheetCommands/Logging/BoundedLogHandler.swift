import Logging
import OnesheetCore
import Synchronization

/// Limits the log's growth when clients provoke many messages: truncates long messages and values, and limits the rate of lines
/// from each place in the code. Debug and trace levels have no rate limit.
struct BoundedLogHandler: LogHandler {
    /// The maximum length of a message, in bytes.
    static let longestMessage = 2048
    /// The maximum length of a metadata value, in bytes.
    static let longestValue = 256

    private var handler: any LogHandler
    private let flood: LogFlood

    init(_ handler: any LogHandler, _ flood: LogFlood) { (self.handler, self.flood) = (handler, flood) }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }
    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue.mapValues(Self.short) }
    }
    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue.map(Self.short) }
    }

    func log(event: LogEvent) {
        var event = event
        var message = "\(event.message)"
        if event.level >= .info {
            guard let missed = flood.admit(LogPlace(event.file, event.line)) else { return }
            if missed > 0 { message = "(\(missed) similar lines were dropped) " + message }
        }
        event.message = "\(message.shortened(to: Self.longestMessage))"
        event.metadata = event.metadata?.mapValues(Self.short)
        handler.log(event: event)
    }

    private static func short(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
        "\("\(value)".shortened(to: longestValue))"
    }
}

/// The place in the code that logs a line. Lines from one place are of one kind.
struct LogPlace: Hashable {
    let file: String
    let line: UInt

    init(_ file: String, _ line: UInt) { (self.file, self.line) = (file, line) }
}

/// A token bucket for each kind of line.
final class LogFlood: Sendable {
    /// The maximum number of lines of one kind in a burst.
    static let burst = 20.0
    /// The number of lines of one kind per second after that.
    static let rate = 5.0

    private struct Kind {
        var room = LogFlood.burst
        var last: ContinuousClock.Instant
        var missed = 0
    }

    private let kinds = Mutex<[LogPlace: Kind]>([:])

    /// - Returns: the number of lines of this kind dropped before this line, or `nil` if this line must be dropped as well.
    func admit(_ place: LogPlace, at now: ContinuousClock.Instant = .now) -> Int? {
        kinds.withLock { kinds in
            var kind = kinds[place] ?? Kind(last: now)
            kind.room = min(Self.burst, kind.room + (now - kind.last) / .seconds(1) * Self.rate)
            kind.last = now
            defer { kinds[place] = kind }
            guard kind.room >= 1 else {
                kind.missed += 1
                return nil
            }
            kind.room -= 1
            defer { kind.missed = 0 }
            return kind.missed
        }
    }
}

import Logging
import OnesheetCore
import Synchronization

/// Keeps a log from filling a disk, whatever strangers send: long messages and values are cut, and of many lines from one place in the
/// code only some are written. Debug and trace are for whoever looks on; there every line is.
struct BoundedLogHandler: LogHandler {
    /// Bytes that a message may have.
    static let longestMessage = 2048
    /// Bytes that one value beside it may have.
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
            if missed > 0 { message = "(\(missed) more lines like this were left out) " + message }
        }
        event.message = "\(message.shortened(to: Self.longestMessage))"
        event.metadata = event.metadata?.mapValues(Self.short)
        handler.log(event: event)
    }

    private static func short(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
        "\("\(value)".shortened(to: longestValue))"
    }
}

/// Where in the code a line of a log comes from: lines from one place are of one kind.
struct LogPlace: Hashable {
    let file: String
    let line: UInt

    init(_ file: String, _ line: UInt) { (self.file, self.line) = (file, line) }
}

/// How many lines of each kind may still be written: a number at once, and then so many a second.
final class LogFlood: Sendable {
    /// Lines of one kind at once.
    static let burst = 20.0
    /// Lines of one kind each second after that.
    static let rate = 5.0

    private struct Kind {
        var room = LogFlood.burst
        var last: ContinuousClock.Instant
        var missed = 0
    }

    private let kinds = Mutex<[LogPlace: Kind]>([:])

    /// - Returns: how many lines of this kind were left out before this one; `nil` if this one is to be left out too.
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

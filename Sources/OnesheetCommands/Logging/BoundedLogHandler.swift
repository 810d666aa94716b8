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
    private let limiter: LogRateLimiter
    /// Each request sets some, and few requests log a line. The handler gets the values, truncated, with a line.
    var metadata: Logger.Metadata

    init(_ handler: any LogHandler, _ limiter: LogRateLimiter) {
        self.handler = handler
        self.limiter = limiter
        metadata = handler.metadata
    }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }
    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        var message = "\(event.message)"
        if event.level >= .info {
            guard let dropped = limiter.admit(LogCallSite(event.file, event.line)) else { return }
            if dropped > 0 { message = "(\(dropped) similar lines were dropped) " + message }
        }
        event.message = "\(message.shortened(to: Self.longestMessage))"
        event.metadata = event.metadata?.mapValues(Self.short)
        var handler = handler
        handler.metadata = metadata.mapValues(Self.short)
        handler.log(event: event)
    }

    private static func short(_ value: Logger.MetadataValue) -> Logger.MetadataValue {
        "\("\(value)".shortened(to: longestValue))"
    }
}

/// The place in the code that logs a line. Lines from one place are of one kind.
struct LogCallSite: Hashable {
    let file: String
    let line: UInt

    init(_ file: String, _ line: UInt) {
        self.file = file
        self.line = line
    }
}

/// A token bucket for each kind of line.
final class LogRateLimiter: Sendable {
    /// The maximum number of lines of one kind in a burst.
    static let burst = 20.0
    /// The number of lines of one kind per second after that.
    static let rate = 5.0

    private struct Kind {
        var tokens = LogRateLimiter.burst
        var last: ContinuousClock.Instant
        var dropped = 0
    }

    private let kinds = Mutex<[LogCallSite: Kind]>([:])

    /// - Returns: the number of lines of this kind dropped before this line, or `nil` if this line must be dropped as well.
    func admit(_ site: LogCallSite, at now: ContinuousClock.Instant = .now) -> Int? {
        kinds.withLock { kinds in
            var kind = kinds[site] ?? Kind(last: now)
            kind.tokens = min(Self.burst, kind.tokens + (now - kind.last) / .seconds(1) * Self.rate)
            kind.last = now
            defer { kinds[site] = kind }
            guard kind.tokens >= 1 else {
                kind.dropped += 1
                return nil
            }
            kind.tokens -= 1
            defer { kind.dropped = 0 }
            return kind.dropped
        }
    }
}

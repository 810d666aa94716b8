import Logging
import Synchronization

@testable import OnesheetServer

/// A log that a test reads.
final class LogLines: Sendable {
    private let written = Mutex<[String]>([])

    var all: [String] { written.withLock { $0 } }

    /// A logger whose lines end up here.
    func logger(_ format: LogConfiguration.Format = .text, level: Logger.Level = .debug) -> Logger {
        var configuration = LogConfiguration()
        (configuration.format, configuration.level) = (format, level)
        return Log.make(configuration) { line in self.written.withLock { $0.append(line) } }
    }
}

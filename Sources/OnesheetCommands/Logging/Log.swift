import FoundationEssentials
import Logging
import OnesheetCore
import OnesheetServer
import OnesheetTransport

/// The log: lines on standard error, each with its request's identifier.
enum Log {
    /// The maximum length of a line, in bytes, without its newline.
    static let longestLine = 4096

    /// - Parameter write: receives each line without its newline.
    static func make(
        _ configuration: LogConfiguration = LogConfiguration(),
        write: @escaping @Sendable (String) -> Void = { StandardStreams.error($0) }
    ) -> Logger {
        let request = Logger.MetadataProvider {
            var metadata: Logger.Metadata = [:]
            if let request = WorkContext.current.request { metadata["request"] = "\(request)" }
            if let trace = TraceContext.current { metadata["trace_id"] = "\(trace.traceID)" }
            return metadata
        }
        let limiter = LogRateLimiter()
        func handler(_ label: String) -> any LogHandler {
            switch configuration.format {
            case .text:
                BoundedLogHandler(
                    StreamLogHandler(label: label, stream: LineStream(write: write), metadataProvider: request), limiter)
            case .json: BoundedLogHandler(JSONLogHandler(metadataProvider: request, write: write), limiter)
            }
        }
        var logger = Logger(label: "onesheet", factory: handler)
        let environment = ProcessInfo.processInfo.environment["LOG_LEVEL"]
        logger.logLevel = configuration.level ?? environment.flatMap { Logger.Level(rawValue: $0.lowercased()) } ?? .notice
        return logger
    }
}

/// Writes a message as a single line: escapes control characters and limits the length.
private struct LineStream: TextOutputStream, Sendable {
    let write: @Sendable (String) -> Void

    mutating func write(_ message: String) {
        write((message.hasSuffix("\n") ? String(message.dropLast()) : message).escaped.shortened(to: Log.longestLine))
    }
}

import FoundationEssentials
import Logging
import OnesheetCore
import OnesheetServer

/// The log: lines on standard error, each with the name of the request that it is about.
enum Log {
    /// Bytes that a line may have, without its end.
    static let longestLine = 4096

    /// - Parameter write: gets each line, without its end.
    static func make(
        _ configuration: LogConfiguration = LogConfiguration(),
        write: @escaping @Sendable (String) -> Void = { StandardStreams.error($0) }
    ) -> Logger {
        let request = Logger.MetadataProvider { RequestID.current.map { ["request": "\($0)"] } ?? [:] }
        let flood = LogFlood()
        func handler(_ label: String) -> any LogHandler {
            switch configuration.format {
            case .text:
                BoundedLogHandler(
                    StreamLogHandler(label: label, stream: LineStream(write: write), metadataProvider: request), flood)
            case .json: BoundedLogHandler(JSONLogHandler(metadataProvider: request, write: write), flood)
            }
        }
        var logger = Logger(label: "onesheet", factory: handler)
        let environment = ProcessInfo.processInfo.environment["LOG_LEVEL"]
        logger.logLevel = configuration.level ?? environment.flatMap { Logger.Level(rawValue: $0.lowercased()) } ?? .notice
        return logger
    }
}

/// Takes a message with its line's end and hands it on as one line, whatever strangers put into it.
private struct LineStream: TextOutputStream, Sendable {
    let write: @Sendable (String) -> Void

    mutating func write(_ message: String) {
        write((message.hasSuffix("\n") ? String(message.dropLast()) : message).escaped.shortened(to: Log.longestLine))
    }
}

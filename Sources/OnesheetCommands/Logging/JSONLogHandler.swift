import FoundationEssentials
import Logging
import OnesheetCore

/// Writes each message as one line of JSON.
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let write: @Sendable (String) -> Void

    init(metadataProvider: Logger.MetadataProvider?, write: @escaping @Sendable (String) -> Void) {
        self.metadataProvider = metadataProvider
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        for more in [metadataProvider?.get(), event.metadata].compactMap({ $0 }) { all.merge(more) { $1 } }
        var fields = all.mapValues { "\($0)" }
        if let error = event.error { fields["error"] = "\(error)" }
        // The handler's own fields are set last, so that metadata cannot replace them.
        fields["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        fields["level"] = event.level.rawValue
        fields["message"] = "\(event.message)"
        // Shorten the values, not the line: a cut line would be invalid JSON. Values with many escapes are cut further.
        var length = Log.longestLine
        var line = Self.line(fields)
        while line.utf8.count > Log.longestLine, length > 16 {
            length /= 2
            line = Self.line(fields.mapValues { $0.shortened(to: length) })
        }
        write(line)
    }

    private static func line(_ fields: [String: String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let line = String(decoding: try encoder.encode(fields), as: UTF8.self)
            // JSON requires escapes for some control characters only (RFC 8259 §7). All of them are inside strings, where escapes
            // are always allowed.
            return line.escaped(TerminalText.jsonEscape)
        } catch {
            // Strings can always be encoded. If encoding fails nevertheless, the log reports it and the server continues.
            return "{\"level\":\"error\",\"message\":\"a log line cannot be encoded\"}"
        }
    }
}

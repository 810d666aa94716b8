import FoundationEssentials
import Logging
import OnesheetCore

/// Writes each message as one line of JSON, for those who read logs by machine.
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
        // Our own words come last, so that nothing takes their place.
        fields["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        fields["level"] = event.level.rawValue
        fields["message"] = "\(event.message)"
        // A line that is cut would be none of JSON: its texts are, and shorter where they need many escapes.
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
            // JSON escapes a few of them only (RFC 8259 §7); all are within its texts, where any may be.
            return line.escaped { $0.utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined() }
        } catch {
            // Texts can always be encoded; should that ever not be so, the line says it, and the server goes on.
            return "{\"level\":\"error\",\"message\":\"a line of the log cannot be written\"}"
        }
    }
}

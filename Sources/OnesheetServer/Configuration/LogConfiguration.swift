package import Logging
import OnesheetCore

/// The keys of `log`.
package struct LogConfiguration: Sendable, ConfigurationSection, Equatable {
    package enum Format: String, Sendable, SettingWord {
        package static let noun = "format"
        case text, json
    }

    package var format = Format.text
    /// If `nil`, `LOG_LEVEL` from the environment, or else `notice`.
    package var level: Logger.Level?

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("format", \.format, meaning: "log lines for people or for machines"),
            Setting(
                "level", \.level, as: LogLevel.self, defaultText: "`LOG_LEVEL`, or `notice`",
                meaning: "minimum level of logged messages"),
        ]
    }
}

/// The written form of a log level.
private enum LogLevel: String, WrittenSetting, SettingWord {
    static let noun = "level"
    case trace, debug, info, notice, warning, error, critical

    init(_ stored: Logger.Level) { self = LogLevel(rawValue: stored.rawValue) ?? .notice }

    var stored: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}

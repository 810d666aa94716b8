import FoundationEssentials
package import OnesheetCore

/// The keys of `accessLog`: one line for each request.
package struct AccessLogConfiguration: Sendable, ConfigurationSection, Equatable {
    package enum Format: String, Sendable, SettingWord {
        package static let noun = "format"
        case combined, json
    }

    /// Standard output, as a path.
    static let standardOutput = "stdout"

    /// `nil` if there is no access log.
    package var path: String?
    package var format = Format.combined

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "path", \.path, defaultText: "none: no access log",
                meaning:
                    "file with one line for each request, or `stdout`. SIGHUP reopens it, and so does the next line after it was renamed"
            ),
            Setting("format", \.format, meaning: "the combined format of Apache and nginx, or one JSON document a line"),
        ]
    }

    /// Checks that the file can be there, and makes nothing.
    package func requireFolder() throws(ConfigurationError) {
        guard let path, path != Self.standardOutput else { return }
        let folder = path.cut(atLast: "/").map { $0.before.isEmpty ? "/" : String($0.before) } ?? "."
        var isFolder = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else {
            throw ConfigurationError(path: "accessLog.path", message: "there is no folder \(folder)")
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
            throw ConfigurationError(path: "accessLog.path", message: "“\(path)” is a folder; it needs a file")
        }
    }

    package func check() throws(ConfigurationError) {
        guard path != "" else { throw ConfigurationError(path: "accessLog.path", message: "needs the path of a file, or stdout") }
    }
}

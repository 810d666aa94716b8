package import OnesheetCore
package import OnesheetPipeline

/// A source's keys belong to its plugin and are printed as written. Only `limits` belongs to the server.
extension NestedSource: SettingValue {
    package static var kind: String { "source" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        if let written { return written.withoutSecrets }
        guard case .mapping(let keys) = configuration else { return .mapping([("type", .text(type))]) }
        return .mapping([("type", .text(type))] + keys.sorted { $0.key < $1.key }.map { ($0, $1.printed(nil)) }).withoutSecrets
    }

    package static func rows(below path: String) -> [ReferenceRow] {
        let type = ReferenceRow(
            path: "\(path).type", kind: "plugin", defaultText: "required",
            meaning: "the plugin; the keys beside it are in [its README](plugins.md#standard-plugins)")
        return [type] + SourceLimits.rows(below: "\(path).limits")
    }
}

extension SourceLimits: ConfigurationSection {
    package static var settings: [Setting<Self>] {
        [
            Setting(
                "time", \.time, as: Interval.self,
                meaning: "timeout of one call of the plugin, including its requests to its service"),
            Setting("calls", \.calls, meaning: "concurrent calls; further ones are refused"),
            Setting(
                "bytes", \.bytes, as: ByteSize.self, defaultText: "`limits.originBytes`",
                meaning: "maximum size of one download for this source"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard calls > 0 else { throw ConfigurationError(path: "calls", message: "needs a number from 1") }
        guard time > .zero else { throw ConfigurationError(path: "time", message: "needs a time such as 30s") }
    }
}

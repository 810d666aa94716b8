package import OnesheetCore
package import OnesheetTransport

/// The keys of `tracing`: the collector of spans.
package struct TracingConfiguration: Sendable, ConfigurationSection, Equatable {
    /// `nil` records no spans.
    package var endpoint: CollectorURL?
    package var sample = 1.0
    package var service = "onesheet"

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "endpoint", \.endpoint, defaultText: "none: no spans",
                meaning: "the collector's URL for traces (OTLP over HTTP, JSON), such as `http://127.0.0.1:4318/v1/traces`"),
            Setting(
                "sample", \.sample,
                meaning: "share of traces to record that begin here, 0 to 1; those that a caller records are recorded"),
            Setting("service", \.service, meaning: "name of this server in traces"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard (0...1).contains(sample) else {
            throw ConfigurationError(path: "tracing.sample", message: "needs a share from 0 to 1, such as 0.1")
        }
        guard !service.isEmpty else { throw ConfigurationError(path: "tracing.service", message: "needs a name") }
    }
}

extension CollectorURL: SettingValue {
    package static var kind: String { "URL" }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let url = CollectorURL(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a URL such as http://127.0.0.1:4318/v1/traces")
        }
        self = url
    }
}

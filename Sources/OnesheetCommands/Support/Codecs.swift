import Logging
import OnesheetCore
import OnesheetImaging
import OnesheetServer

extension PluginList {
    /// Creates the codecs alone, for commands without network and cache.
    func codecs(limits: Limits, _ configurations: [String: ConfigurationValue]) throws(ConfigurationError) -> CodecSet {
        try assembly(limits: limits).codecs(configurations)
    }

    /// Creates plugins for commands without network and cache.
    func assembly(limits: Limits) -> PluginAssembly {
        PluginAssembly(
            plugins: self, transport: NoTransport(), limits: limits, clock: .system, logger: Log.make(), state: { _ in NoState() })
    }
}

/// A transport without a network: every request fails.
private struct NoTransport: HTTPTransport {
    func get(_ request: OnesheetCore.HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        throw .failed(url: request.url, reason: "this command does not use the network")
    }
}

/// Empty state: every value is absent, and nothing is stored.
struct NoState: KeyValueState {
    func value(for key: String) async throws -> String? { nil }
    func set(_ value: String?, for key: String) async throws {}
}

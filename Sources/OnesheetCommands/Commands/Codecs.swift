import Logging
import OnesheetCore
import OnesheetServer

extension PluginList {
    /// The codecs alone, for work without a network and without a cache.
    func codecs(limits: Limits, _ configurations: [String: ConfigurationValue]) throws(ConfigurationError) -> [any Codec] {
        let assembly = PluginAssembly(
            plugins: self, transport: NoTransport(), limits: limits, clock: .system, logger: Log.make(), state: { _ in NoState() })
        return try assembly.codecs(configurations)
    }
}

/// No network: what is asked for fails.
private struct NoTransport: HTTPTransport {
    func get(_ request: OnesheetCore.HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        throw .failed(url: request.url, reason: "this command has no network")
    }
}

/// No state: every value is absent.
struct NoState: KeyValueState {
    func value(for key: String) async throws -> String? { nil }
    func set(_ value: String?, for key: String) async throws {}
}

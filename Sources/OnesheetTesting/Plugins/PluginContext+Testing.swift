public import Logging
public import OnesheetCore

extension PluginContext {
    /// A context without an outside: it logs nothing, its clock stands still, and the test provides the network.
    /// - Parameters:
    ///   - name: the configured name of the source under test.
    ///   - sources: the source types for a nested configuration (`posters: { type: … }`).
    public static func forTesting(
        name: String = "test", transport: any HTTPTransport = FakeTransport(), clock: ManualClock = ManualClock(),
        state: any KeyValueState = InMemoryState(), limits: Limits = Limits(),
        readableFormats: [ImageFormat] = [],
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
        sources: [any SourcePlugin.Type] = []
    ) -> PluginContext {
        PluginContext(
            name: name, transport: transport, logger: logger, clock: clock.wallClock, limits: limits,
            readableFormats: readableFormats, state: state
        ) { nested, context in
            let path = nested.path.isEmpty ? nested.type : nested.path
            guard let type = sources.first(where: { $0.type == nested.type }) else {
                throw ConfigurationError(
                    path: "\(path).type", message: unknownName(nested.type, kind: "source type", known: sources.map { $0.type }))
            }
            do {
                return try make(type, from: nested.configuration, context)
            } catch let error as ConfigurationError {
                throw error.under(path)
            }
        }
    }

    private static func make<Source: SourcePlugin>(
        _ type: Source.Type, from value: ConfigurationValue, _ context: PluginContext
    ) throws -> any ContentSource {
        try Source(try ConfigurationDecoder().decode(Source.Configuration.self, from: value), context: context)
    }
}

/// The plugins that a server has. `StandardPlugins` lists ours; add your own and hand the list to the server.
public struct PluginList: Sendable {
    public var sources: [any SourcePlugin.Type]
    /// The first one's format is what clients get who do not say.
    public var codecs: [any CodecPlugin.Type]
    /// Those that a configuration may switch on.
    public var dialects: [any Dialect.Type]

    public init(
        sources: [any SourcePlugin.Type] = [], codecs: [any CodecPlugin.Type] = [], dialects: [any Dialect.Type] = []
    ) {
        self.sources = sources
        self.codecs = codecs
        self.dialects = dialects
    }
}

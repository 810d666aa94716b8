/// The plugins that a server has. `StandardPlugins` lists ours; add your own and hand the list to the server.
public struct PluginList: Sendable {
    public var sources: [any SourcePlugin.Type]
    /// The first one's format is what clients get who do not say.
    public var codecs: [any CodecPlugin.Type]
    /// The tiers that can stand behind memory and disk.
    public var tiers: [any TierPlugin.Type]
    /// The dialects that a configuration may switch on.
    public var dialects: [any Dialect.Type]

    public init(
        sources: [any SourcePlugin.Type] = [], codecs: [any CodecPlugin.Type] = [], tiers: [any TierPlugin.Type] = [],
        dialects: [any Dialect.Type] = []
    ) {
        self.sources = sources
        self.codecs = codecs
        self.tiers = tiers
        self.dialects = dialects
    }
}

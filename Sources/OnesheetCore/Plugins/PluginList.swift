/// The plugins of a server. `StandardPlugins` lists the built-in ones. Add your own and pass the list to the server.
public struct PluginList: Sendable {
    public var sources: [any SourcePlugin.Type]
    /// The format of the first codec is the default for clients without a preference.
    public var codecs: [any CodecPlugin.Type]
    /// The decoders of formats that are only read.
    public var decoders: [any DecoderPlugin.Type]
    /// The tiers that a configuration may place behind memory and disk.
    public var tiers: [any TierPlugin.Type]
    /// The dialects that a configuration may enable.
    public var dialects: [any Dialect.Type]
    /// The object stores that several servers can share.
    public var stores: [any ObjectStorePlugin.Type]
    /// The coordinators of several servers.
    public var coordinators: [any CoordinatorPlugin.Type]

    public init(
        sources: [any SourcePlugin.Type] = [], codecs: [any CodecPlugin.Type] = [], decoders: [any DecoderPlugin.Type] = [],
        tiers: [any TierPlugin.Type] = [], dialects: [any Dialect.Type] = [], stores: [any ObjectStorePlugin.Type] = [],
        coordinators: [any CoordinatorPlugin.Type] = []
    ) {
        self.sources = sources
        self.codecs = codecs
        self.decoders = decoders
        self.tiers = tiers
        self.dialects = dialects
        self.stores = stores
        self.coordinators = coordinators
    }
}

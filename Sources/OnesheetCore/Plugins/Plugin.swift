/// Something that plugs into Onesheet: it has a name, a configuration and a way to be made from both.
///
/// Plugins are handed to the server in a list; nothing registers itself.
public protocol Plugin: Sendable {
    /// What the configuration file says under the plugin's `type`.
    associatedtype Configuration: Decodable & Sendable

    /// The word in a configuration's `type`: `boxoffice`.
    static var type: String { get }

    /// A configuration in YAML that works, with each key explained in a comment. A test decodes it.
    static var sampleConfiguration: String { get }

    /// - Throws: any error that says which value of the configuration cannot be used, and what would do.
    init(_ configuration: Configuration, context: PluginContext) throws
}

/// A content source that can be configured.
public protocol SourcePlugin: Plugin, ContentSource {}

/// A cache tier that can be configured, to stand behind memory and disk.
public protocol TierPlugin: Plugin, CacheTier {
    /// Ends what the tier has open. Nothing is asked of it afterwards.
    func shutdown() async
}

extension TierPlugin {
    public func shutdown() async {}
}

/// A codec that can be configured.
public protocol CodecPlugin: Plugin, Codec {}

/// A configuration without keys.
public struct NoConfiguration: Decodable, Sendable {
    private enum CodingKeys: CodingKey {}
    public init() {}
    public init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
}

/// An extension of Onesheet, with a name, a configuration, and a factory that uses both.
///
/// The server gets its plugins as a list. There is no registry.
public protocol Plugin: Sendable {
    /// The decoded configuration under the plugin's `type`.
    associatedtype Configuration: Decodable & Sendable

    /// The name in a configuration's `type`: `boxoffice`.
    static var type: String { get }

    /// A working YAML configuration with a comment for each key. A test decodes it.
    static var sampleConfiguration: String { get }

    /// - Throws: any error that names the invalid value of the configuration and a valid one.
    init(_ configuration: Configuration, context: PluginContext) throws
}

/// A plugin for a content source.
public protocol SourcePlugin: Plugin, ContentSource {
    /// Descriptions of services that come with the plugin, by name. `onesheet sources manifest NAME` prints them: a start for one's own.
    static var manifests: [String: String] { get }
}

extension SourcePlugin {
    public static var manifests: [String: String] { [:] }
}

/// A plugin for a cache tier behind memory and disk.
public protocol TierPlugin: Plugin, CacheTier {
    /// Closes the tier. No calls follow.
    func shutdown() async
}

extension TierPlugin {
    public func shutdown() async {}
}

/// A plugin for a codec.
public protocol CodecPlugin: Plugin, Codec {}

/// A plugin for an object store, under `shared.store` of the configuration.
public protocol ObjectStorePlugin: Plugin, ObjectStore {
    /// Closes the store. No calls follow.
    func shutdown() async
}

/// A plugin for a coordinator, under `shared.coordinator` of the configuration.
public protocol CoordinatorPlugin: Plugin, Coordinator {
    /// Closes the connections. No calls follow.
    func shutdown() async
}

/// A plugin for a format that is only read.
public protocol DecoderPlugin: Plugin, ImageDecoder {}

/// A configuration without keys.
public struct NoConfiguration: Decodable, Sendable {
    private enum CodingKeys: CodingKey {}
    public init() {}
    public init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
}

public import Logging

/// What a plugin is given: everything that it may use of the outside, so that a test can give it something else.
public struct PluginContext: Sendable {
    /// The configured name: the scheme of the source's URLs.
    public var name: String
    public var transport: any HTTPTransport
    public var logger: Logger
    public var clock: WallClock
    public var limits: Limits
    /// Small values that survive a restart, the plugin's own.
    public var state: any KeyValueState
    private var makeSource: @Sendable (NestedSource, PluginContext) throws -> any ContentSource

    public init(
        name: String, transport: any HTTPTransport, logger: Logger, clock: WallClock = .system, limits: Limits = Limits(),
        state: any KeyValueState,
        makeSource: @escaping @Sendable (NestedSource, PluginContext) throws -> any ContentSource = { nested, _ in
            throw ConfigurationError(path: "type", message: "there is no source type “\(nested.type)” here")
        }
    ) {
        self.name = name
        self.transport = transport
        self.logger = logger
        self.clock = clock
        self.limits = limits
        self.state = state
        self.makeSource = makeSource
    }

    /// Makes the source that is configured inside this plugin's configuration, such as `posters: { type: kakao, … }`.
    public func source(_ nested: NestedSource) throws -> any ContentSource { try makeSource(nested, self) }
}

/// A source configured inside another's configuration.
public struct NestedSource: Sendable, Decodable, Equatable {
    public let type: String
    /// All keys but `type`.
    public let configuration: ConfigurationValue

    public init(type: String, configuration: ConfigurationValue) {
        (self.type, self.configuration) = (type, configuration)
    }

    public init(from decoder: any Decoder) throws {
        let value = try ConfigurationValue(from: decoder)
        guard case .mapping(var keys) = value, case .scalar(let type)? = keys.removeValue(forKey: "type") else {
            throw ConfigurationError(path: decoder.codingPath, message: "needs a “type”")
        }
        self.init(type: type, configuration: .mapping(keys))
    }
}

/// Small values by name, such as a quota's count. Values survive a restart.
public protocol KeyValueState: Sendable {
    func value(for key: String) async throws -> String?
    /// `nil` removes the value.
    func set(_ value: String?, for key: String) async throws
    /// Changes a value in one atomic step. Without an implementation it is read and then set, so that of two
    /// changes at once one may be lost.
    /// - Parameter body: changes the value in its place; `nil` is none. It may be called more than once.
    /// - Returns: what `body` returns.
    func update<Answer: Sendable>(
        _ key: String, _ body: @escaping @Sendable (inout String?) throws -> Answer
    ) async throws -> Answer
}

extension KeyValueState {
    public func update<Answer: Sendable>(
        _ key: String, _ body: @escaping @Sendable (inout String?) throws -> Answer
    ) async throws -> Answer {
        let before = try await value(for: key)
        var value = before
        let answer = try body(&value)
        if value != before { try await set(value, for: key) }
        return answer
    }
}

public import Logging

/// A plugin's access to the outside. Tests replace it.
public struct PluginContext: Sendable {
    /// The configured name: the scheme of the source's URLs.
    public var name: String
    /// Fetches from origins and services, within the limits.
    public var transport: any HTTPTransport
    /// A logger whose lines name the plugin.
    public var logger: Logger
    /// The present time.
    public var clock: WallClock
    /// The limits of the server.
    public var limits: Limits
    /// The formats of files that the server can read; empty if that is unknown.
    public var readableFormats: [ImageFormat]
    /// The wanted languages of the source, which every source can have in its configuration.
    public var languages: LanguageList?
    /// Small values of this plugin that survive a restart.
    public var state: any KeyValueState
    /// Counters of this plugin that all servers share; `nil` if there is only this one.
    public var counters: SharedCounters?
    /// Called with each file that the plugin reads.
    package var onRead: @Sendable (_ path: String) -> Void = { _ in }
    /// What the administrator says of one of the source's titles (`StatedMatches`). By default, nothing.
    package var statedMatches: @Sendable (_ id: String) async -> StatedMatches = { _ in [:] }
    /// Finds another source of the configuration by its name.
    package var findSource: @Sendable (_ name: String) throws -> any ContentSource = { name in
        throw ConfigurationError(path: "", message: unknownName(name, kind: "source", known: [String]()))
    }
    private var makeSource: @Sendable (NestedSource, PluginContext) throws -> any ContentSource

    public init(
        name: String, transport: any HTTPTransport, logger: Logger, clock: WallClock = .system, limits: Limits = Limits(),
        readableFormats: [ImageFormat] = [], state: any KeyValueState,
        makeSource: @escaping @Sendable (NestedSource, PluginContext) throws -> any ContentSource = { nested, _ in
            throw ConfigurationError(path: "type", message: "there is no source type “\(nested.type)” here")
        }
    ) {
        self.name = name
        self.transport = transport
        self.logger = logger
        self.clock = clock
        self.limits = limits
        self.readableFormats = readableFormats
        self.state = state
        self.makeSource = makeSource
    }

    /// Says that the plugin's configuration names this file and that the plugin reads it, such as a manifest. Call it in the plugin's
    /// initializer, before reading. When the file changes, the server reloads its configuration and drops the source's cached lists and
    /// titles.
    public func reads(_ path: String) { onRead(path) }

    /// Fetches a response of a source's service through `transport`.
    /// - Throws: the source's error if there is no complete response, and `.rateLimited` if the service says when it answers again (429
    ///   with `Retry-After`). Another response with an error status is returned.
    public func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(SourceError) -> HTTPAnswer {
        let answer: HTTPAnswer
        do throws(HTTPTransportError) {
            answer = try await transport.get(request, under: policy)
        } catch {
            throw SourceError(error)
        }
        if answer.status == 429, let seconds = answer.pause(at: clock.now) { throw .rateLimited(retryAfter: seconds) }
        return answer
    }

    /// Logs that elements of a list are missing because they cannot be read.
    /// - Parameters:
    ///   - damage: a reason for each of them; nothing is logged if there is none.
    ///   - list: names the list.
    public func warn(ofMissing damage: [String], in list: String) { logger.warn(ofMissing: damage, in: list) }

    /// Makes a source that is configured inside this plugin's configuration, such as `posters: { type: kakao, … }`.
    /// - Throws: `ConfigurationError`, whose path begins with the key at which `nested` stands.
    public func source(_ nested: NestedSource) throws -> any ContentSource { try makeSource(nested, self) }

    /// Another source of the same configuration, as the server asks it: within its limits, and with its cached answers.
    /// - Throws: `ConfigurationError` with the nearest known name if there is none, or if the two need each other.
    public func source(named name: String) throws -> any ContentSource { try findSource(name) }
}

extension Logger {
    /// As `PluginContext.warn`.
    package func warn(ofMissing damage: [String], in list: String) {
        guard let first = damage.first else { return }
        warning(
            "elements of a list cannot be read and are missing",
            metadata: ["list": "\(list)", "missing": "\(damage.count)", "first": "\(first.prefix(1000))"])
    }
}

/// A source inside the configuration of another.
public struct NestedSource: Sendable, Decodable, Equatable {
    /// The type of the source.
    public let type: String
    /// All keys except `type`.
    public let configuration: ConfigurationValue
    /// Its path in the configuration, with dots between keys.
    package private(set) var path = ""

    public init(type: String, configuration: ConfigurationValue) {
        self.type = type
        self.configuration = configuration
    }

    public init(from decoder: any Decoder) throws {
        let value = try ConfigurationValue(from: decoder)
        guard case .mapping(var keys) = value, case .scalar(let type)? = keys.removeValue(forKey: "type") else {
            throw ConfigurationError(path: decoder.codingPath, message: "needs a “type”")
        }
        self.init(type: type, configuration: .mapping(keys))
        path = ConfigurationError(path: decoder.codingPath, message: "").path
    }

    public static func == (one: NestedSource, other: NestedSource) -> Bool {
        one.type == other.type && one.configuration == other.configuration
    }
}

/// What may be fetched, and how.
public struct OriginPolicy: Sendable, Hashable {
    /// URLs that may be fetched; `nil` is every `http` and `https` URL.
    public var allow: [URLPrefix]?
    /// Addresses that a connection may end at.
    public var networks: [NetworkRange]
    /// Sent with every request.
    public var headers: [String: String]
    /// From the first byte sent to the last received; `nil` takes `Limits.originTimeout`.
    public var timeout: Duration?
    /// Bytes of an answer's body; `nil` takes `Limits.originBytes`.
    public var maxBytes: Int?
    /// Requests per second; `nil` is no limit.
    public var rate: Double?
    /// How long originals are fresh, whatever the origin says.
    public var freshness: FreshnessSettings

    public init(
        allow: [URLPrefix]? = nil, networks: [NetworkRange] = [.public], headers: [String: String] = [:],
        timeout: Duration? = nil, maxBytes: Int? = nil, rate: Double? = nil, freshness: FreshnessSettings = FreshnessSettings()
    ) {
        self.allow = allow
        self.networks = networks
        self.headers = headers
        self.timeout = timeout
        self.maxBytes = maxBytes
        self.rate = rate
        self.freshness = freshness
    }
}

/// What every source that speaks HTTP can be configured with.
public struct HTTPSettings: Sendable, Decodable, Equatable {
    public var networks: [NetworkRange]?
    /// Takes the place of the service's own address, for a mirror or a test.
    public var baseURL: String?
    /// Sent with every request, such as `Referer` and `User-Agent`.
    public var headers: [String: String]?
    public var timeout: Interval?
    /// Requests per second.
    public var rate: Double?
    /// How long its originals are fresh.
    public var freshness: FreshnessSettings?
    /// Bytes of one answer of the service: documents are shorter than pictures, and take longer to read. 8 MiB by default.
    public var answerBytes: ByteSize?

    public init(
        networks: [NetworkRange]? = nil, baseURL: String? = nil, headers: [String: String]? = nil, timeout: Interval? = nil,
        rate: Double? = nil, freshness: FreshnessSettings? = nil, answerBytes: ByteSize? = nil
    ) {
        self.networks = networks
        self.baseURL = baseURL
        self.headers = headers
        self.timeout = timeout
        self.rate = rate
        self.freshness = freshness
        self.answerBytes = answerBytes
    }

    /// Bytes of one answer where nothing else is said.
    public static let usualAnswerBytes = ByteSize(8 << 20)

    /// The service's address without a slash at the end: `baseURL`, or the service's own.
    /// - Throws: `ConfigurationError` where `baseURL` is not a URL.
    public func address(orElse own: String) throws(ConfigurationError) -> String {
        var address = baseURL ?? own
        while address.hasSuffix("/") { address.removeLast() }
        guard let url = WebURL(address), url.query == nil else {
            throw ConfigurationError(path: "baseURL", message: "“\(address)” is not a URL such as \(own)")
        }
        return address
    }

    /// The settings as a policy for what the service answers, which is not its pictures.
    public func answerPolicy() -> OriginPolicy {
        var policy = policy()
        policy.maxBytes = (answerBytes ?? Self.usualAnswerBytes).bytes
        return policy
    }

    /// The settings as a policy for pictures.
    public func policy(allow: [URLPrefix]? = nil) -> OriginPolicy {
        OriginPolicy(
            allow: allow, networks: networks ?? [.public], headers: headers ?? [:], timeout: timeout?.duration, rate: rate,
            freshness: freshness ?? FreshnessSettings())
    }
}

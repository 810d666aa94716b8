/// The rules for outgoing requests.
public struct OriginPolicy: Sendable, Hashable {
    /// URLs that may be fetched; `nil` allows every `http` and `https` URL.
    public var allow: [URLPrefix]?
    /// Addresses that connections may be made to.
    public var networks: [NetworkRange]
    /// Headers of every request.
    public var headers: [String: String]
    /// Time from the first byte sent to the last byte received; `nil` uses `Limits.originTimeout`.
    public var timeout: Duration?
    /// Bytes of a response body; `nil` uses `Limits.originBytes`.
    public var maxBytes: Int?
    /// Requests per second; `nil` is no limit.
    public var rate: Double?
    /// The freshness of originals, regardless of the origin.
    public var freshness: FreshnessSettings
    /// Whether visitors choose the URLs. They may choose those for which a host asks for a pause, so it never pauses the host for
    /// everybody for long.
    public var visitorsChoose: Bool
    /// The proxy that requests leave through; `nil` connects to hosts directly.
    public var proxy: OriginProxy?
    /// Signs each request to the host of the URL that is asked for; `nil` signs none.
    public var signer: OriginSigner?

    public init(
        allow: [URLPrefix]? = nil, networks: [NetworkRange] = [.public], headers: [String: String] = [:],
        timeout: Duration? = nil, maxBytes: Int? = nil, rate: Double? = nil, freshness: FreshnessSettings = FreshnessSettings(),
        visitorsChoose: Bool = false, proxy: OriginProxy? = nil, signer: OriginSigner? = nil
    ) {
        self.allow = allow
        self.networks = networks
        self.headers = headers
        self.timeout = timeout
        self.maxBytes = maxBytes
        self.rate = rate
        self.freshness = freshness
        self.visitorsChoose = visitorsChoose
        self.proxy = proxy
        self.signer = signer
    }
}

/// Makes headers for each request, such as a signature with the time. Two are equal if they are the same.
public final class OriginSigner: Sendable, Hashable {
    /// The headers for a request with this URL, by their names in lower case. Headers of the policy are not signed.
    public let headers: @Sendable (_ url: WebURL) -> [String: String]

    public init(_ headers: @escaping @Sendable (_ url: WebURL) -> [String: String]) { self.headers = headers }

    public static func == (one: OriginSigner, other: OriginSigner) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The settings that every source with an HTTP service has.
public struct HTTPSettings: Sendable, Decodable, Equatable {
    public var networks: [NetworkRange]?
    /// A base URL instead of the service's own, for a mirror or a test.
    public var baseURL: String?
    /// Headers of every request, such as `Referer` and `User-Agent`.
    public var headers: [String: String]?
    public var timeout: Interval?
    /// Requests per second.
    public var rate: Double?
    /// The freshness of the source's originals.
    public var freshness: FreshnessSettings?
    /// Bytes of one response of the service, 8 MiB by default. Documents are shorter than pictures and take longer to parse.
    public var answerBytes: ByteSize?
    /// The proxy of requests to the service and to hosts of pictures.
    public var proxy: OriginProxy?

    public init(
        networks: [NetworkRange]? = nil, baseURL: String? = nil, headers: [String: String]? = nil, timeout: Interval? = nil,
        rate: Double? = nil, freshness: FreshnessSettings? = nil, answerBytes: ByteSize? = nil, proxy: OriginProxy? = nil
    ) {
        self.networks = networks
        self.baseURL = baseURL
        self.headers = headers
        self.timeout = timeout
        self.rate = rate
        self.freshness = freshness
        self.answerBytes = answerBytes
        self.proxy = proxy
    }

    /// The default limit for one response, in bytes.
    public static let usualAnswerBytes = ByteSize(8 << 20)

    /// The base URL without a slash at the end: `baseURL`, or the service's own.
    /// - Throws: `ConfigurationError` if `baseURL` is not a URL.
    public func address(orElse own: String) throws(ConfigurationError) -> String {
        var address = baseURL ?? own
        while address.hasSuffix("/") { address.removeLast() }
        guard let url = WebURL(address), url.query == nil else {
            throw ConfigurationError(path: "baseURL", message: "“\(address)” is not a URL such as \(own)")
        }
        return address
    }

    /// The policy for the service's documents, not for its pictures.
    public func answerPolicy() -> OriginPolicy {
        var policy = policy()
        policy.maxBytes = (answerBytes ?? Self.usualAnswerBytes).bytes
        return policy
    }

    /// The policy for pictures.
    public func policy(allow: [URLPrefix]? = nil) -> OriginPolicy {
        OriginPolicy(
            allow: allow, networks: networks ?? [.public], headers: headers ?? [:], timeout: timeout?.duration, rate: rate,
            freshness: freshness ?? FreshnessSettings(), proxy: proxy)
    }
}

/// The configured freshness of a source's originals, in addition to their response headers (RFC 9111, RFC 5861).
public struct FreshnessSettings: Sendable, Decodable, Hashable {
    /// Which originals are stored.
    public enum Storing: String, Sendable, Hashable {
        /// Those whose origin allows it.
        case allowed
        /// Also those whose origin says `no-store`, `private` or `Vary: *`.
        case always
    }

    /// The least time for which an original is fresh. It does not make one stored that its origin forbids to store.
    public var minimum: Interval?
    /// The longest time for which an original is fresh.
    public var maximum: Interval?
    /// The time for which a stale original is served during revalidation, if the origin does not say.
    public var staleWhileRevalidate: Interval?
    /// The time for which a stale original is served if revalidation fails, if the origin does not say.
    public var staleIfError: Interval?
    /// Whether a picture that its owner has removed (403, 404, 410, 451) is served like one whose origin fails, for `staleIfError`. By
    /// default it is removed with all its variants.
    public var keepsRemoved: Bool?
    /// Which originals are stored. By default, those whose origin allows it.
    public var store: Storing?

    private enum CodingKeys: CodingKey { case minimum, maximum, staleWhileRevalidate, staleIfError, keepsRemoved, store }

    public init() {}

    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        minimum = try keys.decodeIfPresent(Interval.self, forKey: .minimum)
        maximum = try keys.decodeIfPresent(Interval.self, forKey: .maximum)
        staleWhileRevalidate = try keys.decodeIfPresent(Interval.self, forKey: .staleWhileRevalidate)
        staleIfError = try keys.decodeIfPresent(Interval.self, forKey: .staleIfError)
        keepsRemoved = try keys.decodeIfPresent(Bool.self, forKey: .keepsRemoved)
        if let word = try keys.decodeIfPresent(String.self, forKey: .store) {
            guard let known = Storing(rawValue: word) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .store, in: keys, debugDescription: "“\(word)” is neither allowed nor always")
            }
            store = known
        }
        if let minimum, let maximum, minimum.duration > maximum.duration {
            throw DecodingError.dataCorruptedError(
                forKey: .minimum, in: keys, debugDescription: "the minimum of the freshness is longer than its maximum")
        }
    }
}

public import FoundationEssentials

/// How long an original from an HTTP origin may be served, and how to revalidate it (RFC 9111, RFC 5861).
public struct Freshness: Sendable, Equatable {
    /// Whether caches may store the response; `no-store` and `private` forbid it. True for every stored entry.
    public var isStorable: Bool
    /// The time at which the original becomes stale.
    public var freshUntil: Date
    /// The end of the time in which the stale original may be served while it is revalidated.
    public var staleUntil: Date
    /// The end of the time in which the stale original may be served if revalidation fails.
    public var staleOnErrorUntil: Date
    /// The strong or weak entity tag, as sent.
    public var entityTag: String?
    /// `Last-Modified`, as sent.
    public var lastModified: String?
    /// `Cache-Control` and `Expires`, as sent: a 304 without them means that they still hold.
    package var cacheControl: String?
    package var expires: String?

    public init(
        isStorable: Bool = true, freshUntil: Date, staleUntil: Date, staleOnErrorUntil: Date, entityTag: String? = nil,
        lastModified: String? = nil
    ) {
        self.isStorable = isStorable
        self.freshUntil = freshUntil
        self.staleUntil = staleUntil
        self.staleOnErrorUntil = staleOnErrorUntil
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The permitted use of a stored original.
    public enum State: Sendable, Equatable {
        /// Serve it.
        case fresh
        /// Serve it, and revalidate it in the background.
        case staleWhileRevalidate
        /// Revalidate it first. If that fails, serve it.
        case staleIfError
        /// Revalidate it first.
        case stale
    }

    /// The permitted use at `now`.
    public func state(at now: Date) -> State {
        if now < freshUntil { return .fresh }
        if now < staleUntil { return .staleWhileRevalidate }
        return now < staleOnErrorUntil ? .staleIfError : .stale
    }

    /// The time until which a tier keeps the original: while it is fresh or may be served stale, and `grace` seconds more if it can
    /// be revalidated.
    public func usefulUntil(grace: Double) -> Date {
        let last = max(freshUntil, staleUntil, staleOnErrorUntil)
        return conditions.isEmpty ? last : max(last, freshUntil.addingTimeInterval(grace))
    }

    /// Headers for a conditional request (RFC 9110 §13.1); empty if the origin sent no validator.
    public var conditions: [String: String] {
        var headers: [String: String] = [:]
        if let entityTag { headers["if-none-match"] = entityTag }
        if let lastModified { headers["if-modified-since"] = lastModified }
        return headers
    }
}

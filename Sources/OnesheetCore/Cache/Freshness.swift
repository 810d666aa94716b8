public import FoundationEssentials

/// How long an original from an HTTP origin may be served, and how to ask whether it has changed (RFC 9111, RFC 5861).
public struct Freshness: Sendable, Equatable {
    /// Whether the answer may be kept at all; `no-store` and `private` forbid it. Every stored entry may be.
    public var isStorable: Bool
    /// Until when the original is fresh.
    public var freshUntil: Date
    /// Until when it may be served while it is fetched again.
    public var staleUntil: Date
    /// Until when it may be served if fetching it again fails.
    public var staleOnErrorUntil: Date
    /// The origin's strong or weak entity tag, as it was sent.
    public var entityTag: String?
    /// The origin's `Last-Modified`, as it was sent.
    public var lastModified: String?

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

    /// What may be done with a stored original.
    public enum State: Sendable, Equatable {
        /// Serve it.
        case fresh
        /// Serve it, and fetch it again meanwhile.
        case staleWhileRevalidate
        /// Fetch it again first; if that fails, serve it.
        case staleIfError
        /// Fetch it again first.
        case stale
    }

    /// What may be done at `now`.
    public func state(at now: Date) -> State {
        if now < freshUntil { return .fresh }
        if now < staleUntil { return .staleWhileRevalidate }
        return now < staleOnErrorUntil ? .staleIfError : .stale
    }

    /// Until when a tier should keep the original: while it is fresh or may be served stale and, if the origin can be asked whether it
    /// has changed, for `grace` seconds more.
    public func usefulUntil(grace: Double) -> Date {
        let last = max(freshUntil, staleUntil, staleOnErrorUntil)
        return conditions.isEmpty ? last : max(last, freshUntil.addingTimeInterval(grace))
    }

    /// Headers that ask for the original only if it has changed (RFC 9110 §13.1); empty if the origin sent no validator.
    public var conditions: [String: String] {
        var headers: [String: String] = [:]
        if let entityTag { headers["if-none-match"] = entityTag }
        if let lastModified { headers["if-modified-since"] = lastModified }
        return headers
    }
}

package import OnesheetCore

/// The limits of one source for shared resources. They hold whatever its plugin does.
package struct SourceLimits: Sendable, Equatable {
    /// For one call of the plugin, including its requests to its service, but not the time that these wait for their turn.
    package var time = Duration.seconds(60)
    /// Concurrent calls. A further one waits if its client has fewer of them than another client, and is refused otherwise.
    package var calls = 256
    /// Bytes of a response or picture; `nil` uses `Limits.originBytes`.
    package var bytes: Int?

    package init() {}

    /// The policy with the response size capped by these limits.
    package func applied(to policy: OriginPolicy) -> OriginPolicy {
        guard let bytes else { return policy }
        var policy = policy
        policy.maxBytes = min(policy.maxBytes ?? bytes, bytes)
        return policy
    }
}

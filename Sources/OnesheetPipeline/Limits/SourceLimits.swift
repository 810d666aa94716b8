package import OnesheetCore
import Synchronization

/// The limits of one source for shared resources. They hold whatever its plugin does.
package struct SourceLimits: Sendable, Equatable {
    /// For one call of the plugin, including its requests to its service.
    package var time = Duration.seconds(60)
    /// Concurrent calls; further ones are refused immediately.
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

/// The memory of the responses that one call of a plugin fetches. It is released when the call ends, even if the call was
/// abandoned.
final class CallMemory: Sendable {
    @TaskLocal static var current: CallMemory?

    private let holds = Mutex<[MemoryReservation]>([])

    func keep(_ reservation: MemoryReservation) { holds.withLock { $0.append(reservation) } }
}

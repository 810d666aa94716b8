import NIOCore
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

/// The network access of a source, within its limits.
package struct LimitedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let limits: SourceLimits
    private let memory: MemoryBudget?

    /// The memory for a document and its decoded form, as a multiple of its bytes.
    private static let decodedSize = 8

    /// - Parameter memory: the budget for responses until the plugin's call ends.
    package init(_ transport: any HTTPTransport, _ limits: SourceLimits, memory: MemoryBudget? = nil) {
        (self.transport, self.limits, self.memory) = (transport, limits, memory)
    }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        // Not on the threads of the source: shared resources would wait there for a plugin that computes.
        let answer = try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(HTTPTransportError) in
            try await transport.get(request, under: limits.applied(to: policy))
        }
        guard let memory else { return answer }
        guard let reservation = memory.reserve(answer.body.readableBytes * Self.decodedSize) else {
            throw .overloaded(url: request.url)
        }
        CallMemory.current?.keep(reservation)
        return answer
    }
}

/// The memory of the responses that one call of a plugin fetches. It is released when the call ends, even if the call was
/// abandoned.
final class CallMemory: Sendable {
    @TaskLocal static var current: CallMemory?

    private let holds = Mutex<[MemoryReservation]>([])

    func keep(_ reservation: MemoryReservation) { holds.withLock { $0.append(reservation) } }
}

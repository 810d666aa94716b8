import NIOCore
package import OnesheetCore
import Synchronization

/// How much one source may use of shared resources, whatever its plugin does.
package struct SourceLimits: Sendable, Equatable {
    /// For one answer of the plugin, with all that it asks its service for that.
    package var time = Duration.seconds(60)
    /// Calls under way at the same time; one more is refused at once.
    package var calls = 256
    /// Bytes of an answer or a picture that is fetched for it; `nil` takes `Limits.originBytes`.
    package var bytes: Int?

    package init() {}

    /// The policy with no more bytes than these limits allow.
    package func applied(to policy: OriginPolicy) -> OriginPolicy {
        guard let bytes else { return policy }
        var policy = policy
        policy.maxBytes = min(policy.maxBytes ?? bytes, bytes)
        return policy
    }
}

/// A source's access to the network, within its limits.
package struct LimitedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let limits: SourceLimits
    private let memory: MemoryBudget?

    /// How many times its bytes a document takes that a plugin decodes, with the document.
    private static let decodedSize = 8

    /// - Parameter memory: what answers are counted in, until the call of the plugin ends that they are for.
    package init(_ transport: any HTTPTransport, _ limits: SourceLimits, memory: MemoryBudget? = nil) {
        (self.transport, self.limits, self.memory) = (transport, limits, memory)
    }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        // Not on the source's own threads: what all sources share would wait there for a plugin that computes.
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

/// The memory of the answers that are fetched for one call of a plugin. It is released when the call ends, even if the call was
/// abandoned.
final class CallMemory: Sendable {
    @TaskLocal static var current: CallMemory?

    private let holds = Mutex<[MemoryReservation]>([])

    func keep(_ reservation: MemoryReservation) { holds.withLock { $0.append(reservation) } }
}

import NIOCore
package import OnesheetCore

/// The network access of a source, within its limits.
package struct LimitedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let limits: SourceLimits
    private let memory: MemoryBudget?

    /// The memory for a document and its decoded form, as a multiple of its bytes.
    private static let decodedSize = 8

    /// - Parameter memory: the budget for responses until the plugin's call ends.
    package init(_ transport: any HTTPTransport, _ limits: SourceLimits, memory: MemoryBudget? = nil) {
        self.transport = transport
        self.limits = limits
        self.memory = memory
    }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        // Not on the threads of the source: shared resources would wait there for a plugin that computes.
        var answer = try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(HTTPTransportError) in
            try await transport.get(request, under: limits.applied(to: policy))
        }
        guard let memory else { return answer }
        guard let reservation = answer.memory ?? memory.reserve(0),
            reservation.grow(to: answer.body.readableBytes * Self.decodedSize)
        else { throw .overloaded(url: request.url) }
        // A plugin may keep the answer for longer than its call.
        answer.memory = nil
        WorkContext.current.call?.keep(reservation)
        return answer
    }
}

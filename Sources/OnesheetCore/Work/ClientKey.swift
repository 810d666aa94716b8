/// Identifies the client that work is done for. Work with equal keys shares one client's turns.
package struct ClientKey: Hashable, Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The key of work without a client: prefetches, and requests of a proxy that does not name its client.
    package static let anonymous = ClientKey([])

    /// The client that began the work of the current task.
    package static var current: ClientKey { WorkContext.current.clients.first }
}

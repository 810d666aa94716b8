/// Permission to do work for a client: to ask a source, an origin or a worker. Answers from a tier need none.
///
/// The server sets the current permit while it handles a client's request. Without one, everything is allowed.
package struct MissPermit: Sendable {
    /// The permit of the request that the current task works for.
    @TaskLocal package static var current: MissPermit?

    /// The clients whose turns the work uses.
    package let clients: FlightClients
    private let check: @Sendable () throws(Failure) -> Void

    /// - Parameters:
    ///   - client: the client that the work is for; `nil` if it is unknown.
    ///   - check: throws if the client may cause no further work at present.
    package init(for client: ClientKey? = nil, _ check: @escaping @Sendable () throws(Failure) -> Void) {
        self.init(clients: FlightClients([client ?? .anonymous]), check: check)
    }

    private init(clients: FlightClients, check: @escaping @Sendable () throws(Failure) -> Void) {
        self.clients = clients
        self.check = check
    }

    /// Uses the current permit, just before the work begins.
    /// - Throws: `Failure.tooManyRequests` or `.overloaded`.
    package static func use() throws(Failure) { try current?.check() }

    /// Runs `body` for all of `clients`, with the current permit.
    package static func work<Value>(for clients: FlightClients, _ body: () -> Value) -> Value {
        let allowed: @Sendable () throws(Failure) -> Void = { () throws(Failure) in }
        let check = current?.check ?? allowed
        return $current.withValue(MissPermit(clients: clients, check: check), operation: body)
    }
}

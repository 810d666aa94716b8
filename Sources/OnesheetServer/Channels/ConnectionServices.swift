import HTTPTypes
import HummingbirdCore
import NIOCore

/// The services that all connections of a server use.
struct ConnectionServices: Sendable {
    /// `nil` if the router handles every request.
    let fastPath: FastPath?
    let clients: ClientsConfiguration
    let connections: OpenConnections
    /// `nil` if there is none.
    let accessLog: AccessLog?
    let responder: ReloadableResponder

    /// Answers a request of `client`.
    /// - Parameters:
    ///   - channel: the connection, or the HTTP/2 stream, that the request arrived on.
    ///   - isStream: whether it is a stream.
    ///   - routed: the request as the fast path has parsed it, if it has.
    func answer(
        _ request: Request, _ writer: consuming ResponseWriter, of client: ClientConnection, on channel: any Channel,
        isStream: Bool = false, routed: RoutedRequest?
    ) async throws {
        let client = ClientRequest(of: client, on: channel, isStream: isStream, request.headers)
        let context = RequestContext(request: request, client: client, routed: routed)
        let endsEarly = request.method == .get || request.method == .head
        try await client.answer(writer, endsEarly: endsEarly) { await responder.respond(context) }
    }
}

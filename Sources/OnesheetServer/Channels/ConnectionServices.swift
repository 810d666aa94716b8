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
    let responder: HTTPChannelHandler.Responder

    /// Answers `request` on `channel`, a connection or an HTTP/2 stream.
    func answer(_ request: Request, _ writer: consuming ResponseWriter, on channel: any Channel) async throws {
        try await ClientRequest.answer(request, writer, on: channel, of: connections, with: responder)
    }
}

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The response of a server. Foundation's `URLSession` would do, but on Linux it takes a whole processor while it waits for one.
struct WebAnswer: Sendable {
    let status: Int
    let fields: HTTPHeaders
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }
    func field(_ name: String) -> String? { fields.first(name: name) }

    private static let client = {
        var configuration = HTTPClient.Configuration()
        // The server has ended, so a retry cannot succeed.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Sends a request and reads the whole response.
    static func to(_ url: String, method: HTTPMethod = .GET, fields: HTTPHeaders = [:]) async throws -> WebAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = fields
        let response = try await client.execute(request, timeout: .seconds(120))
        let body = try await response.body.collect(upTo: 64 << 20)
        return WebAnswer(status: Int(response.status.code), fields: response.headers, body: Data(body.readableBytesView))
    }
}

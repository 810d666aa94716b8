import FoundationEssentials
import NIOCore
import NIOFoundationEssentialsCompat
import NIOHTTP1
import OnesheetCore

/// The URL of a collector.
package struct CollectorURL: Sendable, Equatable, CustomStringConvertible {
    package let description: String
    fileprivate let url: WebURL

    /// - Returns: `nil` if `text` is not an `http` or `https` URL.
    package init?(_ text: String) {
        guard let url = WebURL(text), url.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            (url.query ?? "").utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        description = text
        self.url = url
    }
}

/// Why a collector has not taken spans.
package struct CollectorFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ error: any Error) {
        switch error {
        case let refused as CollectorConnection.Refused: description = "it answered \(refused.status)"
        case let failure as ExchangeFailure: description = failure.detail
        default: description = "the spans cannot be written"
        }
    }
}

/// Sends documents to a collector, each on a connection of its own: if an idle one ends, a POST may not be sent again.
struct CollectorConnection: Sendable {
    /// The time for a response, and for the connection before it.
    private static let timeout = TimeAmount.seconds(10)
    private static let connectTimeout = TimeAmount.seconds(2)
    /// Bytes of the body of a response, which does not matter.
    private static let maxBody = 64 << 10

    private let url: WebURL
    private let connections = OriginConnections(lookUpWithin: Duration(Self.connectTimeout))

    struct Refused: Error {
        let status: Int
    }

    init(_ url: CollectorURL) { self.url = url.url }

    /// Posts a JSON document.
    /// - Throws: `Refused` unless the collector takes it, and `ExchangeFailure`.
    func post(_ document: Data) async throws {
        var head = HTTPRequestHead(url, method: .POST, body: document.count, fields: ["Content-Type": "application/json"])
        head.headers.add(name: "Connection", value: "close")
        var bounds = ExchangeBounds(silence: Self.timeout)
        bounds.connect = Self.connectTimeout
        var order = OriginOrder(head: head, bounds: bounds, deadline: .now() + Self.timeout, limit: Self.maxBody)
        order.body = ByteBuffer(data: document)
        let status: Int
        do throws(ExchangeFailure) {
            status = try await connections.send(order, to: OriginHost(url), in: nil, isNew: true).status
        } catch {
            guard case .tooLarge = error.kind, let head = error.head else { throw error }
            status = Int(head.status.code)
        }
        guard (200..<300).contains(status) else { throw Refused(status: status) }
    }
}

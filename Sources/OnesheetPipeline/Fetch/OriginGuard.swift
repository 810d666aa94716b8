import NIOCore
import OnesheetCore

/// Holds the origin policy against URLs, and against the address that a connection really has: what a name resolves to can change
/// between a look-up and the connection (DNS rebinding), the connected address cannot.
enum OriginGuard {
    /// - Throws: `HTTPTransportError.forbidden` where `policy` does not allow `url`.
    static func check(_ url: WebURL, _ policy: OriginPolicy) throws(HTTPTransportError) {
        if let allow = policy.allow, !allow.contains(where: { $0.matches(url) }) {
            throw .forbidden(url: url.description, reason: "it is not on the source's allow-list")
        }
        // A host that is an address can be refused before anything is sent.
        if let address = IPAddress(url.host), !policy.networks.contains(where: { $0.contains(address) }) {
            throw .forbidden(url: url.description, reason: AddressRefused(address: url.host).description)
        }
    }

    /// Fails for a channel whose other end lies outside `networks`.
    static func check(_ channel: any Channel, _ networks: [NetworkRange]) -> EventLoopFuture<Void> {
        guard let remote = channel.remoteAddress, let address = IPAddress(remote) else {
            return channel.eventLoop.makeFailedFuture(AddressRefused(address: "unknown"))
        }
        guard networks.contains(where: { $0.contains(address) }) else {
            return channel.eventLoop.makeFailedFuture(AddressRefused(address: "\(address)"))
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }
}

/// A connection that would end where the policy says it may not.
struct AddressRefused: Error, CustomStringConvertible {
    let address: String
    var description: String { "the address \(address) is outside the source's networks" }
}

extension IPAddress {
    /// The address of a socket's end, its zone aside.
    init?(_ socket: SocketAddress) {
        guard let text = socket.ipAddress?.prefix(while: { $0 != "%" }) else { return nil }
        self.init(String(text))
    }
}

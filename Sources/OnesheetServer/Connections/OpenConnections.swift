import NIOCore
import OnesheetCore
import Synchronization

/// The connections that are open: to count them, to know whose they are and, in the end, to close them.
final class OpenConnections: Sendable {
    /// Why a client did not get what it wanted.
    enum Refusal: String, CaseIterable {
        /// Its address has as many connections as it may have.
        case connections
        /// Its address has caused as many misses as it may.
        case misses
        /// There is no memory for answers.
        case memory
        /// It took nothing of its answers while others needed the memory.
        case slow
        /// The process has as many files open as it may have.
        case descriptors
    }

    let identity: ClientIdentity
    /// Whether the operator named the trusted proxies.
    let namesProxies: Bool
    let shares: ClientShares
    let memory: ResponseMemory
    private let channels = Mutex<[ObjectIdentifier: (channel: any Channel, client: Client)]>([:])
    private let refusals = Mutex<[Refusal: Int]>([:])

    init(_ clients: ClientsConfiguration, _ memory: ResponseMemory) {
        identity = ClientIdentity(trustedProxies: clients.trustedProxies)
        namesProxies = clients.namedProxies != nil
        shares = ClientShares(clients.perAddress)
        self.memory = memory
    }

    var count: Int { channels.withLock { $0.count } }

    /// How often each was the reason for a refusal.
    var refused: [Refusal: Int] {
        refusals.withLock { $0 }.merging([.slow: memory.droppedClients]) { $1 }
    }

    func count(_ refusal: Refusal) { refusals.withLock { $0[refusal, default: 0] += 1 } }

    /// Takes a connection on, or closes it if its address has as many as it may have.
    /// - Throws: `TooManyConnections`; then it is closed.
    func add(_ channel: any Channel) throws(TooManyConnections) {
        let peer = channel.remoteAddress?.address
        let owner = identity.owner(ofConnectionFrom: peer)
        if let owner, !shares.connect(owner) {
            count(.connections)
            channel.close(promise: nil)
            throw TooManyConnections()
        }
        let id = ObjectIdentifier(channel)
        let client = Client(peer, self)
        channels.withLock { $0[id] = (channel, client) }
        channel.closeFuture.whenComplete { [self] _ in
            channels.withLock { _ = $0.removeValue(forKey: id) }
            if let owner { shares.disconnect(owner) }
        }
    }

    /// Who is at the other end of `channel`; `nil` unless it is a connection that is open.
    func client(of channel: any Channel) -> Client? { channels.withLock { $0[ObjectIdentifier(channel)]?.client } }

    /// Closes them all, whatever is still on its way.
    func close() {
        for channel in channels.withLock({ $0.values.map(\.channel) }) { channel.close(promise: nil) }
    }
}

/// A client's address has as many connections as it may have.
struct TooManyConnections: Error {}

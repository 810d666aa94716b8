import NIOCore
import OnesheetCore
import Synchronization

/// The registry of open connections: counts them, maps each to its client, and closes them at shutdown.
final class OpenConnections: Sendable {
    /// The reason for a refusal.
    enum Refusal: String, CaseIterable {
        /// The address has reached its connection limit.
        case connections
        /// The address has reached its miss limit.
        case misses
        /// Too many requests wait for an image or a source.
        case waiting
        /// No memory is left for responses, for another connection with TLS, or for another HTTP/2 stream.
        case memory
        /// The client read nothing of its responses while others needed the memory.
        case slow
        /// The process has reached its limit of open files.
        case descriptors
    }

    let identity: ClientIdentity
    /// Whether the operator configured the trusted proxies.
    let namesProxies: Bool
    let addressLimits: AddressLimits
    let memory: ResponseMemory
    /// The requests that wait for an image or a source.
    let misses: FairLimit
    private let state = Mutex(State())
    private let refusals = Mutex<[Refusal: Int]>([:])

    private struct State {
        var channels: [ObjectIdentifier: (channel: any Channel, client: Client)] = [:]
        /// Whether `close` has been called.
        var isClosed = false
    }

    init(_ clients: ClientsConfiguration, memory: ResponseMemory, misses: FairLimit) {
        identity = ClientIdentity(trustedProxies: clients.trustedProxies)
        namesProxies = clients.namedProxies != nil
        addressLimits = AddressLimits(clients.perAddress)
        self.memory = memory
        self.misses = misses
    }

    var count: Int { state.withLock { $0.channels.count } }

    /// The number of refusals by reason.
    var refused: [Refusal: Int] {
        refusals.withLock { $0 }.merging([.slow: memory.droppedClients]) { $1 }
    }

    func count(_ refusal: Refusal) { refusals.withLock { $0[refusal, default: 0] += 1 } }

    /// Registers a connection, or closes it if its address has reached the limit.
    /// - Throws: `TooManyConnections` after closing the connection.
    func add(_ channel: any Channel) throws(TooManyConnections) {
        let peer = channel.remoteAddress?.address
        let owner = identity.owner(ofConnectionFrom: peer)
        if let owner, !addressLimits.connect(owner) {
            count(.connections)
            channel.close(promise: nil)
            throw TooManyConnections()
        }
        let id = ObjectIdentifier(channel)
        let client = Client(peer, self)
        let isClosed = state.withLock { state in
            state.channels[id] = (channel, client)
            return state.isClosed
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { _ = $0.channels.removeValue(forKey: id) }
            if let owner { addressLimits.disconnect(owner) }
        }
        if isClosed { channel.close(promise: nil) }
    }

    /// The client of `channel`. `nil` if it is not an open connection.
    func client(of channel: any Channel) -> Client? { state.withLock { $0.channels[ObjectIdentifier(channel)]?.client } }

    /// Closes all connections, including those with responses in flight and those that are accepted later.
    func close() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.channels.values.map(\.channel)
        }
        for channel in open { channel.close(promise: nil) }
    }
}

/// The client's address has reached its connection limit, or there is no memory for another connection.
struct TooManyConnections: Error {}

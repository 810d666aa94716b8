import NIOCore
import OnesheetCore
import OnesheetPipeline
import Synchronization

/// Admits connections and keeps the registry of open ones: counts them, maps each to its client, closes idle ones when few more can be
/// accepted, and closes all at shutdown.
final class OpenConnections: Sendable {
    /// The reason why a connection or a request was refused, or a connection closed.
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
        /// The connection was idle, its address had more than its share, and few more connections could be accepted.
        case idle
    }

    /// The least time between two searches for idle connections.
    static let pauseBetweenSearches = TimeAmount.milliseconds(250)

    let identity: ClientIdentity
    /// Whether the operator configured the trusted proxies.
    let namesProxies: Bool
    let addressLimits: AddressLimits
    let memory: ResponseMemory
    /// The requests that wait for an image or a source.
    let waiting: MemoryShare
    /// Whether connections begin with a TLS handshake. Then one that finds no place is refused.
    private let isEncrypted: Bool
    /// The memory of connections. Those with TLS share it fairly by address.
    private let places: MemoryShare
    private let state = Mutex(State())
    private let refusals = Mutex<[Refusal: Int]>([:])

    private struct Connection {
        let channel: any Channel
        let client: ClientConnection
        /// The address that it counts for.
        let owner: ClientAddress?
        /// Its memory. A connection without TLS may have none.
        let place: MemoryShare.Place?
        /// The number of connections before it.
        let number: Int
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        /// The connections that count for an address, by address: a search need not look at all connections.
        var byOwner: [ClientAddress: [ObjectIdentifier: Connection]] = [:]
        /// The number of connections so far.
        var total = 0
        /// The time of the last search for idle connections.
        var lastSearch: NIODeadline?
        /// Whether `close` has been called.
        var isClosed = false

        mutating func add(_ connection: Connection, id: ObjectIdentifier) {
            connections[id] = connection
            if let owner = connection.owner { byOwner[owner, default: [:]][id] = connection }
            total += 1
        }

        mutating func remove(_ id: ObjectIdentifier) {
            guard let owner = connections.removeValue(forKey: id)?.owner else { return }
            byOwner[owner]?.removeValue(forKey: id)
            if byOwner[owner]?.isEmpty == true { byOwner.removeValue(forKey: owner) }
        }
    }

    /// - Parameters:
    ///   - waiting: the places of requests that wait for an image or a source.
    ///   - budget: the budget that counts the memory of connections.
    ///   - isEncrypted: whether connections begin with a TLS handshake.
    init(_ clients: ClientsConfiguration, memory: ResponseMemory, waiting: MemoryShare, of budget: MemoryBudget, isEncrypted: Bool)
    {
        identity = ClientIdentity(trustedProxies: clients.trustedProxies)
        namesProxies = clients.namedProxies != nil
        addressLimits = AddressLimits(clients.perAddress)
        self.memory = memory
        self.waiting = waiting
        self.isEncrypted = isEncrypted
        places = isEncrypted ? .encryptedConnections(of: budget) : .plainConnections(of: budget)
    }

    /// The most connections that there is memory for; `nil` without TLS, because memory does not limit them then.
    var most: Int? { isEncrypted ? places.most : nil }

    var count: Int { state.withLock { $0.connections.count } }

    /// The number of refusals by reason.
    var refused: [Refusal: Int] {
        refusals.withLock { $0 }.merging([.slow: memory.droppedClients]) { $1 }
    }

    func count(_ refusal: Refusal) { refusals.withLock { $0[refusal, default: 0] += 1 } }

    /// Registers a connection that was just accepted, unless its address has reached its limit, or there is no memory for it.
    /// - Returns: `false` if the caller has to close it.
    func admit(_ channel: any Channel) -> Bool {
        let peer = channel.remoteAddress?.address
        let owner = identity.owner(ofConnectionFrom: peer)
        if let owner, !addressLimits.connect(owner) {
            count(.connections)
            return false
        }
        let place = places.admit(isEncrypted ? owner : nil)
        guard place != nil || !isEncrypted else {
            if let owner { addressLimits.disconnect(owner) }
            count(.memory)
            return false
        }
        let id = ObjectIdentifier(channel)
        let client = ClientConnection(peer, self)
        let isClosed = state.withLock { state in
            state.add(Connection(channel: channel, client: client, owner: owner, place: place, number: state.total), id: id)
            return state.isClosed
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.remove(id) }
            if let owner { addressLimits.disconnect(owner) }
        }
        return !isClosed
    }

    /// The client of `channel`. `nil` if it is not an open connection.
    func client(of channel: any Channel) -> ClientConnection? {
        state.withLock { $0.connections[ObjectIdentifier(channel)]?.client }
    }

    /// Closes up to `count` idle connections when few more can be accepted. Begins with the address that has the most, and with the oldest of
    /// its connections. Each address keeps its share, as if there were one more address, and two at least. Connections of trusted proxies and
    /// of a Unix socket stay.
    ///
    /// Looks at all connections of the addresses that have more than their share, which takes time. So it does nothing within
    /// `pauseBetweenSearches` after the last search. nginx, too, closes idle connections when a sixteenth is free.
    func closeIdle(_ count: Int, at now: NIODeadline = .now()) {
        let found = state.withLock { state -> (crowded: [[ObjectIdentifier: Connection]], share: Int)? in
            if let last = state.lastSearch, now - last < Self.pauseBetweenSearches { return nil }
            state.lastSearch = now
            let all = state.byOwner.values.reduce(0) { $0 + $1.count }
            let share = max(FairLimit.least, all / (state.byOwner.count + 1))
            return (state.byOwner.values.filter { $0.count > share }, share)
        }
        guard let (crowded, share) = found else { return }
        var rest = count
        for connections in crowded.sorted(by: { $0.count > $1.count }) where rest > 0 {
            let idle = connections.values.filter(\.client.isIdle).sorted { $0.number < $1.number }
            for connection in idle.prefix(min(rest, connections.count - share)) {
                self.count(.idle)
                connection.client.leave(connection.channel)
                rest -= 1
            }
        }
    }

    /// Closes all connections, including those with responses in flight and those that are accepted later.
    func close() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.connections.values.map(\.channel)
        }
        for channel in open { channel.close(promise: nil) }
    }
}

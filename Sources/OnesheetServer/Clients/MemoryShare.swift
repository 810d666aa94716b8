import OnesheetCore

/// Limits things of one kind by the memory that each takes for as long as it exists.
///
/// All together may have a share of the memory for originals and pixels. They are part of it, and are never refused because pictures
/// use it. Addresses share the places fairly (`FairLimit`).
final class MemoryShare: Sendable {
    /// The place of one thing until it is released.
    final class Place: Sendable {
        private let limit: FairLimit
        private let owner: ClientAddress?
        private let memory: MemoryReservation

        fileprivate init(of limit: FairLimit, for owner: ClientAddress?, memory: MemoryReservation) {
            self.limit = limit
            self.owner = owner
            self.memory = memory
        }

        deinit { limit.end(owner) }
    }

    /// Bytes of one.
    let each: Int
    private let limit: FairLimit
    private let memory: MemoryBudget
    private let yields: Bool

    /// - Parameters:
    ///   - share: the bytes of all together. There are at least 64 places.
    ///   - each: the bytes of one.
    ///   - yields: whether a picture that needs nearly all memory may take its place: see `MemoryBudget`.
    init(_ share: Int, each: Int, of memory: MemoryBudget, yields: Bool = false) {
        self.each = each
        self.memory = memory
        self.yields = yields
        limit = FairLimit(bytes: share, each: each)
    }

    /// The share of connections with TLS: three eighths. Each takes the buffers of the TLS library, 50 to 75 KiB with HTTP/1.1 and 90 to 110 KiB
    /// with HTTP/2, measured after it has received a picture, and a little more under attack.
    static func encryptedConnections(of memory: MemoryBudget) -> MemoryShare {
        MemoryShare(memory.limit / 8 * 3, each: 128 << 10, of: memory)
    }

    /// The share of HTTP/2 streams that have a channel: an eighth. Each takes 32 KiB for its handlers, its task and its request, as
    /// measured; one connection may have a hundred.
    static func streams(of memory: MemoryBudget) -> MemoryShare { MemoryShare(memory.limit / 8, each: 32 << 10, of: memory) }

    /// The share of connections without TLS: an eighth. Each takes 11 KiB for its channel and its handlers, and 32 KiB with the
    /// parser and the task after the router has answered a request, as measured: a task keeps its stack while it lives.
    /// Connections beyond the share are not counted: `clients.connections` limits them, and idle ones must not keep pictures out.
    static func plainConnections(of memory: MemoryBudget) -> MemoryShare {
        MemoryShare(memory.limit / 8, each: 32 << 10, of: memory, yields: true)
    }

    /// The share of requests that wait for an image: an eighth. Each takes about 64 KiB for the stacks of its tasks, as measured.
    static func waitingRequests(of memory: MemoryBudget) -> MemoryShare {
        MemoryShare(memory.limit / 8, each: 64 << 10, of: memory, yields: true)
    }

    /// The most that there can be.
    var most: Int { limit.limit }

    /// - Parameter owner: the address that it counts for; `nil` if it is unknown, and then only the limit of all applies.
    /// - Returns: `nil` if there are too many.
    func admit(_ owner: ClientAddress?) -> Place? {
        guard limit.begin(owner) else { return nil }
        return Place(of: limit, for: owner, memory: yields ? memory.charge(yielding: each) : memory.charge(each))
    }
}

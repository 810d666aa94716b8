import OnesheetPipeline

/// Limits the HTTP/2 streams that have a channel, and accounts for their memory. One connection may have a hundred, which take
/// thirty times the memory of the connection.
///
/// All together may have an eighth of the memory for originals and pixels. They are part of it, and are never refused because pictures
/// use it.
final class OpenStreams: Sendable {
    /// The room of one stream until it is released.
    final class Room: Sendable {
        private let limit: FairLimit
        private let owner: ClientAddress?
        private let memory: MemoryReservation

        fileprivate init(_ limit: FairLimit, _ owner: ClientAddress?, _ memory: MemoryReservation) {
            (self.limit, self.owner, self.memory) = (limit, owner, memory)
        }

        deinit { limit.end(owner) }
    }

    /// Bytes of a channel with its handlers, its task and its request, as measured.
    static let perStream = 32 << 10

    private let limit: FairLimit
    private let memory: MemoryBudget

    init(of memory: MemoryBudget) {
        self.memory = memory
        limit = FairLimit(max(64, memory.limit / 8 / Self.perStream))
    }

    /// - Parameter owner: the address that the stream counts for; `nil` if it is unknown, and then only the limit of all applies.
    /// - Returns: `nil` if there are too many.
    func admit(_ owner: ClientAddress?) -> Room? {
        limit.begin(owner) ? Room(limit, owner, memory.charge(Self.perStream)) : nil
    }
}

import NIOCore
import NIOHTTP1

/// A request, and what its answer may take.
struct OriginOrder: Sendable {
    let head: HTTPRequestHead
    let bounds: ExchangeBounds
    /// When the answer must be whole.
    let deadline: NIODeadline
    /// Bytes of the body.
    let limit: Int
    let budget: MemoryBudget
    let place: HostSlots.Place
}

/// What bounds every answer in time.
struct ExchangeBounds: Sendable {
    /// How long an origin may be silent, before the head as well as in the middle.
    var silence: TimeAmount
    /// Bytes of a body that come in a second on average, or the origin is as good as silent.
    var rate = 1024
    /// How long a body is let come more slowly.
    var grace = TimeAmount.seconds(10)
}

/// A whole answer.
struct OriginReply: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// The memory that the body occupies.
    let reservation: MemoryReservation
    /// Whether its connection can carry another request.
    let isLast: Bool
}

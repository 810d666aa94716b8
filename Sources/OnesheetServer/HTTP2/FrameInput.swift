import NIOCore
import NIOHPACK
import NIOHTTP2

/// What a client sends on an HTTP/2 connection, in turns. After some requests the connection waits for its next turn (`ConnectionTurns`), and
/// so do the bytes behind them and further reads of the socket.
struct FrameInput {
    private enum State {
        case idle, receiving, waiting
    }

    /// The highest cost of one turn, in responses of the fast path.
    private static let mostCost = 256
    /// The cost of a stream's channel, in responses of the fast path.
    static let costOfChannel = 32
    /// The time after which the cost is counted anew, so that a client with few requests never waits.
    private static let countingTime = TimeAmount.milliseconds(50)
    /// The most bytes that may wait. When a client closes its side, NIO reads all that is left, even if no handler asks for it.
    private static let mostWaiting = 128 << 10

    private var reader = FrameReader()
    private var state = State.idle
    private var cost = 0
    private var counted: NIODeadline
    private var wantsToRead = false

    init(at now: NIODeadline = .now()) { counted = now }

    /// Whether the connection waits for its next turn.
    var isWaiting: Bool { state == .waiting }

    /// Takes what was read.
    /// - Throws: ENHANCE_YOUR_CALM if more bytes wait than may.
    mutating func append(_ bytes: ByteBuffer) throws(ConnectionFailure) {
        reader.append(bytes)
        if isWaiting, reader.waiting > Self.mostWaiting { throw ConnectionFailure(code: .enhanceYourCalm) }
    }

    /// Begins to take frames with `next`.
    /// - Returns: `false` if that is under way already, or has to wait.
    mutating func begin(at now: NIODeadline = .now()) -> Bool {
        guard state == .idle else { return false }
        state = .receiving
        if now - counted > Self.countingTime { (cost, counted) = (0, now) }
        return true
    }

    /// The next frame of this turn; `nil` if it has not arrived, or belongs to the next turn.
    mutating func next() throws(ConnectionFailure) -> ClientFrame? { cost < Self.mostCost ? try reader.next() : nil }

    /// Counts what a frame has cost, in responses of the fast path.
    mutating func addCost(_ cost: Int) { self.cost += cost }

    /// The cost of reading fields. In a frame, a field may be one byte: a reference to HPACK's table.
    static func cost(ofFields fields: HPACKHeaders) -> Int {
        var bytes = 0
        for (name, value, _) in fields { bytes += name.utf8.count + value.utf8.count }
        return fields.count / 16 + bytes / 512
    }

    /// Takes no more frames for now.
    mutating func end() { state = cost < Self.mostCost ? .idle : .waiting }

    /// Begins the next turn of a connection that waits.
    mutating func resume(at now: NIODeadline = .now()) { (state, cost, counted) = (.idle, 0, now) }

    /// Forgets what has arrived, at the end of the connection.
    mutating func drop() { reader = FrameReader() }

    /// Notes that a handler wants the socket read.
    /// - Returns: whether the read has to wait.
    mutating func holdRead() -> Bool {
        guard state != .idle else { return false }
        wantsToRead = true
        return true
    }

    /// - Returns: whether a read has waited and may go on. It is `true` once for each.
    mutating func releaseRead() -> Bool {
        guard !isWaiting else { return false }
        defer { wantsToRead = false }
        return wantsToRead
    }
}

import NIOCore
import NIOHTTP2

/// What a client sends on an HTTP/2 connection, in turns: after some requests the connection waits, and so do the bytes behind them and
/// further reads of the socket (`ConnectionTurns`).
struct FrameInput {
    /// What one turn costs at most, in responses of the fast path.
    private static let mostCost = 256
    /// A stream's channel takes about as long as so many responses of the fast path.
    static let costOfChannel = 32
    /// A turn ends after this time too, so that a client with few requests never waits.
    private static let longestTurn = TimeAmount.milliseconds(50)
    /// The most bytes that may wait. What comes before the end of the input is read even if no one asks for it.
    private static let mostWaiting = 128 << 10

    private var reader = FrameReader()
    private var cost = 0
    private var begun = NIODeadline.now()
    private var isReceiving = false
    private var wantsToRead = false
    /// Whether the connection waits for its next turn.
    private(set) var isWaiting = false

    mutating func append(_ bytes: ByteBuffer) throws(ConnectionFailure) {
        reader.append(bytes)
        if isWaiting, reader.waiting > Self.mostWaiting { throw ConnectionFailure(code: .enhanceYourCalm) }
    }

    /// Notes that frames will be taken with `next`.
    /// - Returns: `false` if that is happening already, or has to wait.
    mutating func begin() -> Bool {
        guard !isReceiving, !isWaiting else { return false }
        isReceiving = true
        let now = NIODeadline.now()
        if now - begun > Self.longestTurn { (cost, begun) = (0, now) }
        return true
    }

    /// The next frame of this turn.
    mutating func next() throws(ConnectionFailure) -> ClientFrame? { cost < Self.mostCost ? try reader.next() : nil }

    mutating func count(_ cost: Int) { self.cost += cost }

    /// Notes that no more frames are taken for now.
    mutating func end() {
        isReceiving = false
        isWaiting = cost >= Self.mostCost
    }

    /// Notes that the connection has its next turn.
    mutating func beginTurn() { (cost, begun, isWaiting) = (0, .now(), false) }

    /// Forgets what has arrived, at the end of the connection.
    mutating func drop() { reader = FrameReader() }

    /// Whether the socket is not read now, but when frames are taken no more and none wait.
    mutating func holdRead() -> Bool {
        if isReceiving || isWaiting { wantsToRead = true }
        return isReceiving || isWaiting
    }

    /// Whether the socket is read now because that was held.
    mutating func releaseRead() -> Bool {
        defer { if !isWaiting { wantsToRead = false } }
        return wantsToRead && !isWaiting
    }
}

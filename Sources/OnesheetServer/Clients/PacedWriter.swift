import HTTPTypes
import HummingbirdCore
import NIOCore

/// Writes a long body in pieces, each after the client has taken the previous one.
///
/// A channel takes pieces without end until its event loop has written one and found that the connection is full. Without a wait for the
/// loop, all pieces would be in its queue at once: it would write them in one turn, with all other connections waiting, and the request would
/// end, with its limits, before the client has taken anything.
struct PacedWriter<Parent: ResponseBodyWriter>: ResponseBodyWriter {
    /// The most bytes that wait for the event loop.
    private static var mostUnseen: Int { 64 << 10 }

    private var parent: Parent
    private let pieceLength: Int
    private let loop: any EventLoop
    private var unseen = 0

    /// - Parameters:
    ///   - pieceLength: the bytes of a piece.
    ///   - loop: the event loop of the connection.
    init(_ parent: Parent, pieceLength: Int, on loop: any EventLoop) {
        self.parent = parent
        self.pieceLength = pieceLength
        self.loop = loop
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while let piece = rest.readSlice(length: min(pieceLength, rest.readableBytes)), piece.readableBytes > 0 {
            try await parent.write(piece)
            unseen += piece.readableBytes
            if unseen >= Self.mostUnseen { try await wait() }
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        if unseen > 0 { try await wait() }
        try await parent.finish(trailingHeaders)
    }

    private mutating func wait() async throws {
        try await loop.submit {}.get()
        unseen = 0
    }
}

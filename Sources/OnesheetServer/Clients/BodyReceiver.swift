import NIOCore
import Synchronization

/// A connection, an HTTP/2 stream, or the streams that the fast path answers, that receive bodies.
final class BodyReceiver: Sendable {
    struct Progress {
        /// The written pieces that the client has not taken.
        var pieces = 0
        /// The size of the largest body in flight, in bytes.
        var bytes = 0
        /// The storage of that body, which may be gone while smaller bodies are in flight.
        var body: ObjectIdentifier?
        /// The time since which the client has made no progress.
        var since: NIODeadline
    }

    private let memory: ResponseMemory
    private let state: Mutex<Progress>
    private let findOwner: @Sendable () -> ClientAddress?
    private let foundOwner = Mutex<ClientAddress??>(nil)
    /// Ends the bodies in flight. Called on any thread, also after they have been sent.
    let close: @Sendable () -> Void

    init(
        _ memory: ResponseMemory, owner: @escaping @Sendable () -> ClientAddress?, close: @escaping @Sendable () -> Void
    ) {
        self.memory = memory
        findOwner = owner
        self.close = close
        state = Mutex(Progress(since: .now()))
    }

    convenience init(_ channel: any Channel, _ memory: ResponseMemory) {
        self.init(memory) {
            memory.owner(of: channel)
        } close: {
            channel.close(promise: nil)
        }
    }

    /// The address that the bodies count for; `nil` if it is unknown. Found once, when memory is short. Called on any thread.
    func owner() -> ClientAddress? {
        foundOwner.withLock { found in
            if let found { return found }
            let owner = findOwner()
            found = .some(owner)
            return owner
        }
    }

    var progress: Progress { state.withLock { $0 } }
    /// The time since which the client has made no progress.
    var waitingSince: NIODeadline { state.withLock { $0.since } }
    /// Whether the client has taken everything.
    var isEmpty: Bool { state.withLock { $0.pieces == 0 } }

    /// Notes that the client has taken a part of a piece.
    func progressed() { state.withLock { $0.since = .now() } }

    /// Counts a written piece of a body.
    /// - Parameter body: the body or a part of it.
    func wrote(_ body: ByteBuffer) {
        let isFirst = state.withLock { state in
            if state.pieces == 0 { state.since = .now() }
            state.pieces += 1
            if body.storageCapacity > state.bytes {
                state.bytes = body.storageCapacity
                state.body = body.storageID
            }
            return state.pieces == 1
        }
        if isFirst { memory.add(self) }
    }

    /// Counts a piece that the client has taken, or whose write has failed.
    func finished() {
        let isLast = state.withLock { state in
            state.since = .now()
            state.pieces -= 1
            if state.pieces == 0 {
                state.bytes = 0
                state.body = nil
            }
            return state.pieces == 0
        }
        if isLast { memory.remove(self) }
    }
}

extension ByteBuffer {
    /// Identifies the storage that all slices share.
    var storageID: ObjectIdentifier {
        withVeryUnsafeBytesWithStorageManagement { _, storage in ObjectIdentifier(storage.takeUnretainedValue()) }
    }
}

import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

/// The socket of an unencrypted connection, for short responses. The channel queues every write, which takes a fifth of the server's own
/// instructions for a 304.
///
/// Use it only on the channel's loop, while the channel is active and has no bytes that wait: the channel closes the descriptor, and bytes
/// leave in the order of the calls.
struct PlainSocket {
    private let descriptor: NIOBSDSocket.Handle

    /// - Returns: `nil` if the channel has no socket.
    init?(_ channel: any Channel) {
        do {
            let handle = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
            guard let handle else { return nil }
            descriptor = handle
        } catch {
            return nil
        }
    }

    /// Sends `bytes` as far as the socket takes them at once.
    /// - Returns: the number of bytes sent. 0 after an error, which the channel meets again when it sends them.
    func send(_ bytes: ByteBuffer) -> Int {
        #if canImport(Glibc)
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            return bytes.withUnsafeReadableBytes { max(0, Glibc.send(descriptor, $0.baseAddress, $0.count, flags)) }
        #else
            return 0
        #endif
    }
}

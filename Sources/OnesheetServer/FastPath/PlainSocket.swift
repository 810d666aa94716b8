import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

/// The socket of an unencrypted connection, for short responses. The channel queues every write, which takes a fifth of the server's own
/// instructions for a 304, and a tenth for a small picture.
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

    /// Sends `head` and then `body` as far as the socket takes them at once.
    /// - Returns: the number of bytes sent. 0 after an error, which the channel meets again when it sends them.
    func send(_ head: ByteBuffer, _ body: ByteBuffer = ByteBuffer()) -> Int {
        #if canImport(Glibc)
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            if body.readableBytes == 0 {
                return head.withUnsafeReadableBytes { max(0, Glibc.send(descriptor, $0.baseAddress, $0.count, flags)) }
            }
            return head.withUnsafeReadableBytes { head in
                body.withUnsafeReadableBytes { body in
                    var parts = (iovec(head), iovec(body))
                    return withUnsafeMutablePointer(to: &parts) { parts in
                        parts.withMemoryRebound(to: iovec.self, capacity: 2) { parts in
                            var message = msghdr()
                            message.msg_iov = parts
                            message.msg_iovlen = 2
                            return max(0, sendmsg(descriptor, &message, flags))
                        }
                    }
                }
            }
        #else
            return 0
        #endif
    }
}

#if canImport(Glibc)
    extension iovec {
        fileprivate init(_ bytes: UnsafeRawBufferPointer) {
            self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        }
    }
#endif

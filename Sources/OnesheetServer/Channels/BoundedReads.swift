import NIOCore

extension NIOSynchronousChannelOptions {
    /// Bounds what is read from a connection at a time. Clients rarely pipeline, so a second `read` after the first would be a wasted system
    /// call. Everything that was read is decoded, including pipelined requests and small frames, which takes many times its size in memory; and
    /// the buffers of a connection stay as large as its largest read.
    func boundReads() throws {
        try setOption(.maxMessagesPerRead, value: 1)
        try setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 2 << 10, maximum: 16 << 10))
    }
}

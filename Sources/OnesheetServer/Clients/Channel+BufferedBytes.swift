import NIOCore

extension Channel {
    /// The number of bytes that wait for the client. Call it on the channel's loop.
    var bufferedBytes: Int {
        do {
            return try syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // If the channel does not support the option, no client counts as stalled.
            return 0
        }
    }
}

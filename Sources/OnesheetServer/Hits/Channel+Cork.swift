import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

extension Channel {
    /// Whether packets that are not full wait for more (tcp(7), TCP_CORK). A head that is followed by a file would else leave in a packet
    /// of its own, which costs as much as the file's. To be asked on the channel's loop.
    /// - Returns: whether the connection can do that: those that are not TCP cannot.
    func cork(_ isCorked: Bool) -> Bool {
        #if canImport(Glibc)
            do {
                let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_CORK))
                try syncOptions?.setOption(option, value: isCorked ? 1 : 0)
                return syncOptions != nil
            } catch {
                return false
            }
        #else
            return false
        #endif
    }
}

import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Keeps the server from asking in vain, again and again, for a connection that it has no descriptor for.
///
/// A descriptor is kept for then: with it the connection is accepted and closed, so that its client knows, and nothing waits. Sits before
/// all that counts connections.
final class SpareDescriptor: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private var spare: CInt?
    private let refuse: () -> Void

    /// - Parameter refuse: called for each connection that is closed.
    init(_ refuse: @escaping () -> Void) {
        self.refuse = refuse
        spare = Self.open()
    }

    /// Whether the next connection has a descriptor in any case.
    var isKept: Bool { spare != nil }

    deinit { if let spare { close(spare) } }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, [EMFILE, ENFILE].contains(error.errnoCode), let spare {
            close(spare)
            self.spare = nil
        }
        context.fireErrorCaught(error)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard spare == nil else { return context.fireChannelRead(data) }
        let channel = unwrapInboundIn(data)
        let here = NIOLoopBound(self, eventLoop: context.eventLoop)
        channel.close(promise: nil)
        refuse()
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            if here.value.spare == nil { here.value.spare = Self.open() }
        }
    }

    private static func open() -> CInt? {
        let file = dup(STDERR_FILENO)
        guard file >= 0 else { return nil }
        // Programs that plugins start do not have it.
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }
}

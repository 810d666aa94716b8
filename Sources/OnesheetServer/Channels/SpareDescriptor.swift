import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Prevents a busy loop on `accept` when no descriptor is left (EMFILE, ENFILE).
///
/// Keeps one descriptor in reserve. When `accept` fails, the handler closes the reserve, accepts the connection and closes it at
/// once, so that the client sees the refusal and the accept queue advances. Sits before the handlers that count connections.
final class SpareDescriptor: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private var spare: CInt?
    private let refuse: () -> Void

    /// - Parameter refuse: called for each connection that is closed for lack of a descriptor.
    init(_ refuse: @escaping () -> Void) {
        self.refuse = refuse
        spare = Self.open()
    }

    /// Whether the reserve descriptor is open.
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
        // Child processes of plugins must not inherit it.
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }
}

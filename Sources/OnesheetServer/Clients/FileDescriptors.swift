import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process's limit of open files (getrlimit(2), RLIMIT_NOFILE), and the number of connections that fit.
struct DescriptorLimit {
    let files: Int

    init(files: Int) { self.files = files }

    /// Raises the soft limit to the hard limit, within `maxFiles`.
    static func raised() -> DescriptorLimit {
        var limit = rlimit()
        #if canImport(Glibc)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        guard getrlimit(files, &limit) == 0 else { return DescriptorLimit(files: 1024) }
        if limit.rlim_cur < limit.rlim_max {
            var more = limit
            more.rlim_cur = min(limit.rlim_max, rlim_t(maxFiles))
            if more.rlim_cur > limit.rlim_cur, setrlimit(files, &more) == 0 { limit = more }
        }
        return DescriptorLimit(files: Int(min(limit.rlim_cur, rlim_t(maxFiles))))
    }

    /// The number of connections that fit: two descriptors per connection (the socket and a file to send), with a reserve for the
    /// cache, origins and plugins.
    var connections: Int { max(8, (files - min(256, files / 2)) / 2) }

    /// A higher limit has no use, and some programs that plugins start iterate over all descriptors.
    private static let maxFiles = 1 << 18
}

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

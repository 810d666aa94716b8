package import NIOCore
import NIOPosix
package import OnesheetCore
import Synchronization

/// Connections to origins: made only to checked addresses, reused, and closed when they are idle.
///
/// The addresses of a name are checked before the connection is made, and the connection is made to a checked address. A name that
/// resolves differently a moment later (DNS rebinding) has no effect. `Host` and the TLS handshake use the name.
package final class OriginConnections: Sendable {
    /// A connection was checked against one set of networks and is reused only for that set.
    private struct Key: Hashable {
        let host: OriginHost
        let networks: [NetworkRange]?
        let proxy: OriginProxy?
    }

    private struct Idle {
        let channel: any Channel
        let since: NIODeadline
        let end: Alarms.ID
    }

    private struct State {
        var idle: [Key: [Idle]] = [:]
        var open: [ObjectIdentifier: any Channel] = [:]
        /// Pending connections.
        var opening = 0
        var isShutDown = false

        /// Removes a connection.
        /// - Returns: the alarm that would have closed it.
        @discardableResult
        mutating func remove(_ channel: any Channel) -> Alarms.ID? {
            guard open.removeValue(forKey: ObjectIdentifier(channel)) != nil else { return nil }
            for (key, kept) in idle {
                guard let index = kept.firstIndex(where: { $0.channel === channel }) else { continue }
                let end = kept[index].end
                idle[key]?.remove(at: index)
                if idle[key]?.isEmpty ?? false { idle[key] = nil }
                return end
            }
            return nil
        }
    }

    /// The most connections, because file descriptors are a shared resource.
    private static let limit = 512
    /// The most addresses to try.
    private static let attempts = 4

    private let state = Mutex(State())
    private let group: any EventLoopGroup
    private let resolver: SystemResolver
    private let security: TLSClient
    private let idleTime: Duration

    /// - Parameter idleTime: the time without a request after which a connection is closed. Many servers close after a minute, some earlier.
    package init(
        group: any EventLoopGroup, resolver: SystemResolver, security: TLSClient, idleTime: Duration = .seconds(30)
    ) {
        self.group = group
        self.resolver = resolver
        self.security = security
        self.idleTime = idleTime
    }

    /// Connections to a host that the operator names, such as a store. They are closed when they are idle for less than stores wait, so
    /// that few end while a request is on its way that cannot be sent again.
    /// - Parameter limit: for the lookup of a name.
    package convenience init(lookUpWithin limit: Duration) {
        self.init(
            group: OriginLoops.group, resolver: SystemResolver(threads: (1, 1), limit: limit),
            security: TLSClient(threads: NIOSingletons.posixBlockingThreadPool), idleTime: .seconds(5))
    }

    /// The response of `host` to `order`, from an address within `networks`.
    /// - Parameters:
    ///   - networks: `nil` allows all addresses, for a host that the operator names.
    ///   - proxy: `nil` connects to the host itself.
    ///   - isNew: whether the connection must be new.
    package func send(
        _ order: OriginOrder, to host: OriginHost, in networks: [NetworkRange]?, via proxy: OriginProxy? = nil, isNew: Bool
    ) async throws(ExchangeFailure) -> OriginReply {
        let key = Key(host: host, networks: networks, proxy: proxy)
        guard let proxy else { return try await send(order, key, by: nil, isNew: isNew) }
        let detour = Detour(proxy: proxy, host: host, target: try await OriginGuard.target(of: host, in: networks, resolver))
        return try detour.checked(await send(detour.order(order), key, by: detour, isNew: isNew))
    }

    private func send(
        _ order: OriginOrder, _ key: Key, by detour: Detour?, isNew: Bool
    ) async throws(ExchangeFailure) -> OriginReply {
        if !isNew, let channel = popIdle(key) {
            do throws(ExchangeFailure) {
                return try await exchange(order, on: channel, key)
            } catch {
                // Both ends may close an idle connection. The origin closed it before it received the request, so a GET may be sent
                // again (RFC 9112 §9.3.1).
                guard order.isRepeatable, error.stage == .waiting, case .broken = error.kind, !Task.isCancelled else { throw error }
            }
        }
        let addresses: [IPAddress]
        if let detour {
            do throws(ExchangeFailure) {
                addresses = try await OriginGuard.addresses(of: OriginHost(detour.proxy), in: nil, resolver)
            } catch {
                throw detour.failure(error)
            }
        } else {
            addresses = try await OriginGuard.addresses(of: key.host, in: key.networks, resolver)
        }
        let (channel, early) = try await connect(to: key.host, at: addresses, key, order, by: detour)
        return try await exchange(order, on: channel, key, after: early)
    }

    /// Closes all connections.
    package func shutdown() {
        let all = state.withLock { state in
            state.isShutDown = true
            return Array(state.open.values)
        }
        for channel in all { channel.close(promise: nil) }
        resolver.shutdown()
    }

    private func exchange(
        _ order: OriginOrder, on channel: any Channel, _ key: Key, after early: EarlyError? = nil
    ) async throws(ExchangeFailure) -> OriginReply {
        do {
            let reply = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { waiter in
                    // Each call from another thread may wake the event loop, so one does everything.
                    channel.eventLoop.execute {
                        let promise = channel.eventLoop.makePromise(of: OriginReply.self)
                        promise.futureResult.whenComplete { waiter.resume(with: $0) }
                        channel.writeAndFlush(OriginExchange.Job(order: order, promise: promise)).cascadeFailure(to: promise)
                    }
                }
            } onCancel: {
                channel.close(promise: nil)
            }
            if !reply.isLast { keep(channel, key) }
            return reply
        } catch {
            channel.close(promise: nil)
            throw error as? ExchangeFailure ?? ExchangeFailure(.broken(ConnectionReason.text(early?.value ?? error)), .waiting)
        }
    }

    /// A connection to the first of `addresses` that accepts one.
    /// - Parameter detour: the way from there to the host.
    private func connect(
        to host: OriginHost, at addresses: [IPAddress], _ key: Key, _ order: OriginOrder, by detour: Detour?
    ) async throws(ExchangeFailure) -> (channel: any Channel, early: EarlyError) {
        try makeRoom()
        defer { state.withLock { $0.opening -= 1 } }
        let tls = host.scheme == "https" ? try await security.context() : nil
        var failure = ExchangeFailure(.noAddress, .connecting)
        for (index, address) in addresses.prefix(Self.attempts).enumerated() {
            let isLast = index + 1 == min(addresses.count, Self.attempts)
            let patience = isLast ? order.bounds.connect : .nanoseconds(order.bounds.connect.nanoseconds / 4)
            let left = order.deadline - .now()
            guard left > .zero, !Task.isCancelled else { throw ExchangeFailure(.timedOut, .connecting) }
            let handlers = OriginHandlers(tls: tls, name: host.host)
            do {
                let place = try SocketAddress(
                    packedIPAddress: ByteBuffer(bytes: address.bytes), port: detour?.proxy.port ?? host.port)
                let end = NIODeadline.now() + min(patience, left)
                let channel = try await ClientBootstrap(group: group)
                    .channelInitializer { detour == nil ? handlers.add(to: $0) : $0.eventLoop.makeSucceededVoidFuture() }
                    .connectTimeout(min(patience, left)).connect(to: place).get()
                if let detour { try await detour.open(channel, until: end, then: handlers) }
                return (try admit(channel, for: key, after: handlers.early), handlers.early)
            } catch let refused as ExchangeFailure {
                throw refused
            } catch  where detour != nil {
                failure = detour?.failure(error) ?? failure
            } catch ChannelError.connectTimeout {
                failure = ExchangeFailure(.timedOut, .connecting)
            } catch {
                failure = ExchangeFailure(.broken(ConnectionReason.text(error)), .connecting)
            }
        }
        throw failure
    }

    /// Counts a new connection. Closes an idle one if there are too many.
    private func makeRoom() throws(ExchangeFailure) {
        let surplus = try state.withLock { state throws(ExchangeFailure) -> (any Channel)? in
            guard !state.isShutDown else { throw ExchangeFailure(.full, .connecting) }
            state.opening += 1
            guard state.open.count + state.opening > Self.limit else { return nil }
            let oldest = state.idle.values.joined().min { $0.since < $1.since }
            guard let oldest else {
                state.opening -= 1
                throw ExchangeFailure(.full, .connecting)
            }
            state.remove(oldest.channel)
            return oldest.channel
        }
        surplus?.close(promise: nil)
    }

    private func admit(_ channel: any Channel, for key: Key, after early: EarlyError) throws(ExchangeFailure) -> any Channel {
        guard let peer = channel.remoteAddress.flatMap({ IPAddress($0) }) else {
            // A closed connection has no address.
            throw ExchangeFailure(.broken(ConnectionReason.text(early.value ?? ChannelError.alreadyClosed)), .connecting)
        }
        // The peer is the proxy otherwise.
        guard key.proxy != nil || OriginGuard.allows(peer, key.networks) else {
            channel.close(promise: nil)
            throw ExchangeFailure(.refused([peer]), .connecting)
        }
        let isShutDown = state.withLock { state in
            state.open[ObjectIdentifier(channel)] = channel
            return state.isShutDown
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            if let end = self?.state.withLock({ $0.remove(channel) }) { Alarms.shared.cancel(end) }
        }
        if isShutDown { channel.close(promise: nil) }
        return channel
    }

    private func popIdle(_ key: Key) -> (any Channel)? {
        let idle = state.withLock { state -> Idle? in
            // The most recently used one is the least likely to be closed.
            let idle = state.idle[key]?.popLast()
            if state.idle[key]?.isEmpty ?? false { state.idle[key] = nil }
            return idle
        }
        if let idle { Alarms.shared.cancel(idle.end) }
        return idle?.channel
    }

    private func keep(_ channel: any Channel, _ key: Key) {
        let end = Alarms.shared.set(in: idleTime) { channel.close(promise: nil) }
        let isKept = state.withLock { state in
            // It may have been closed meanwhile.
            guard !state.isShutDown, state.open[ObjectIdentifier(channel)] != nil else { return false }
            state.idle[key, default: []].append(Idle(channel: channel, since: .now(), end: end))
            return true
        }
        guard !isKept else { return }
        Alarms.shared.cancel(end)
        channel.close(promise: nil)
    }
}

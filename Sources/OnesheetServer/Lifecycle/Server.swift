import CLinux
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
package import OnesheetCache
import OnesheetCluster
package import OnesheetCore
import OnesheetImaging
import OnesheetPipeline
import OnesheetTransport
import ServiceLifecycle
import Synchronization

/// The HTTP server with its background services.
package struct Server: Sendable {
    let responder: ReloadableResponder
    private let fastPath: FastPath?
    let certificate: Certificate?
    let counters: ServerCounters
    private let readiness = Readiness()
    private let end = AsyncStream<Void>.makeStream()

    /// - Parameter hasFastPath: whether event loops answer simple requests for cached images.
    /// - Throws: `ConfigurationError` if the server would be open to everyone without a key, and the errors of `ServerContext`.
    package init(
        _ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger,
        hasFastPath: Bool = true
    ) throws {
        try configuration.requireProtection()
        try configuration.accessLog.requireFolder()
        cmemory_return_large_blocks()
        certificate = try configuration.tls.map { files throws(ConfigurationError) in try Certificate(files) }
        let context = try ServerContext(configuration, plugins, clock: clock, logger: logger)
        let limits = configuration.limits.limits
        let budget = context.pipeline.pool.memory
        let memory = ResponseMemory(
            limit: configuration.clients.memory(within: limits), of: budget,
            identity: ClientIdentity(trustedProxies: configuration.clients.trustedProxies),
            stallTimeout: configuration.stallTimeout ?? ResponseMemory.stallTimeout)
        let connections = OpenConnections(
            configuration.clients, memory: memory, waiting: .waitingRequests(of: budget), of: budget,
            isEncrypted: certificate != nil)
        counters = ServerCounters(
            connections, accessLog: try AccessLog(configuration.accessLog, of: connections.identity, clock: clock, logger: logger),
            collector: configuration.tracing.endpoint.map {
                CollectorTracer(
                    endpoint: $0, sampleRatio: configuration.tracing.sample, service: configuration.tracing.service,
                    version: ServerVersion.current)
            })
        responder = ReloadableResponder(context) { [counters, readiness] context in
            Router(context, counters: counters, readiness: readiness)
        }
        fastPath = hasFastPath ? FastPath(responder, isEncrypted: certificate != nil) : nil
    }

    /// The first source that has lists.
    package var firstListedSource: String? { responder.context.sources.first { $0.source.capabilities.hasLists }?.name }

    /// Runs the server until `drain` is called or the task is cancelled.
    /// - Parameter ready: called once with the bound address, when the server accepts connections.
    package func run(ready: @escaping @Sendable (ListenAddress) async -> Void) async throws {
        // A context that is kept here would keep its sources, with their programs, after a reload has replaced them.
        let (configuration, logger) = (responder.context.configuration, responder.context.logger)
        let listen = configuration.listen
        let times = ShutdownTimes(configuration.shutdown)
        var failure: (any Error)?
        do {
            try ListenTrial(address: listen).run()
            let socket = listen.socketFile
            try await socket?.clear()
            defer { socket?.remove() }
            // A connection may have been accepted while the services stopped.
            defer { counters.connections.close() }
            try await requireBackends(responder.context)
            // A server that cannot start says so in one line.
            for warning in configuration.warnings { logger.warning("\(warning)") }
            let services = ServiceGroup(services: services(responder.context, ready), logger: logger)
            let checking = Task { [cluster = responder.context.resources.cluster] in await logProblems(of: cluster, logger) }
            defer { checking.cancel() }
            await prepare(responder.context)
            try await runServices(services, logger, within: times)
        } catch let error as IOError {
            failure = ListenError(address: listen, reason: .system(error.errnoCode))
        } catch {
            // Errors of connections closed at the deadline are expected.
            if readiness.state != .draining { failure = error }
        }
        await endRecords(within: times.grace)
        // A reload may have replaced the sources.
        try await responder.context.shutdown(within: times.left)
        if let failure { throw failure }
    }

    /// What comes before the first request.
    private func prepare(_ context: ServerContext) async {
        context.pipeline.engine.warmUp()
        await catchUp(context)
        await context.pipeline.cache.invalidations.begin()
        await readDecisions(context)
        await context.dropOutdatedAnswers()
    }

    /// Writes the last lines of the access log and sends the last spans, at the same time.
    private func endRecords(within grace: Duration) async {
        async let logged: Void? = counters.accessLog?.close(within: grace)
        if let collector = counters.collector { _ = await withTimeoutIgnoringCancellation(grace) { await collector.send() } }
        _ = await logged
    }

    /// - Throws: `ConfigurationError` with the first backend that cannot be used, if the configuration requires the backends.
    private func requireBackends(_ context: ServerContext) async throws(ConfigurationError) {
        guard context.configuration.shared.required, let cluster = context.resources.cluster else { return }
        for finding in await cluster.findings() {
            if let error = finding.error { throw ConfigurationError(path: finding.backend, message: error) }
        }
    }

    /// Tries the backends and logs the findings. The server serves meanwhile.
    private func logProblems(of cluster: ServerCluster?, _ logger: Logger) async {
        for finding in await cluster?.findings() ?? [] {
            if let error = finding.error {
                logger.warning("\(finding.backend) cannot be used now, the server works without it until it can: \(error)")
            }
            for warning in finding.warnings { logger.warning("\(finding.backend): \(warning)") }
        }
    }

    /// How long a start waits for the purges that were missed.
    private static let longestCatchUp = Duration.seconds(2)
    /// How long the first start of a server waits for the decisions in the store.
    private static let longestReading = Duration.seconds(5)

    /// Waits until the purges that this server missed are applied. Before that, it could serve purged entries.
    private func catchUp(_ context: ServerContext) async {
        guard let follower = context.resources.follower, await !follower.catchUp(within: Self.longestCatchUp) else {
            return
        }
        context.logger.warning("the server may serve what other servers have purged, until it can read their purges")
    }

    /// Waits for the decisions of the other servers, if this one has never read them.
    private func readDecisions(_ context: ServerContext) async {
        guard let decisions = context.resources.decisions else { return }
        decisions.start()
        guard await !decisions.waitBeforeServing(upTo: Self.longestReading) else { return }
        context.logger.warning("the server may serve other posters than the other servers, until it can read their decisions")
    }

    /// Starts a graceful shutdown: `/ready` answers 503, no new connections are accepted, and requests in progress are answered.
    /// - Returns: `false` if shutdown had already begun.
    package func drain() -> Bool {
        guard readiness.end() else { return false }
        end.continuation.yield()
        return true
    }

    /// Ends what the sources have started, at once. For a process that ends before `run` does.
    package func abandonSources() async {
        let context = responder.context
        let ending = Task { await context.endSources() }
        ending.cancel()
        _ = await withTimeoutIgnoringCancellation(.seconds(1)) { await ending.value }
    }

    /// The files that the configurations of sources name, each with its state before it was last read. Their changes need a reload.
    package var sourceFiles: [String: FileStamp?] {
        let context = responder.context
        return context.assembly.files.stamps.merging(context.resources.latestSourceFiles.files.stamps) { _, latest in latest }
    }

    /// Reloads the certificate and the configuration, and opens the file of the access log again. They take effect with the next
    /// request. Errors are logged, and the old values stay in use. Must not be called concurrently.
    package func reload(_ load: () throws -> ServerConfiguration) async {
        let running = responder.context
        counters.accessLog?.reopen()
        // Reload each independently: one may be valid when the other is not.
        do {
            try certificate?.reload()
        } catch {
            running.logger.error("the new certificate cannot be used, the old one stays in use: \(error)")
        }
        do {
            let (configuration, fixed) = try load().taking(fixedPartsOf: running.configuration)
            if case .record = configuration.recordReplay {
                throw ConfigurationError(
                    path: "", message: "a recording server cannot reload, because it would record new secrets; restart it")
            }
            try configuration.requireProtection()
            let rebuilt = try configuration.locatingErrors { try running.rebuilt(configuration) }
            rebuilt.pipeline.engine.warmUp()
            responder.reload(rebuilt)
            running.pipeline.engine.shutdown()
            fastPath?.refresh()
            await rebuilt.dropOutdatedAnswers(after: running)
            running.logger.notice("the configuration was reloaded")
            if !fixed.isEmpty {
                running.logger.warning("changes of \(fixed.joined(separator: ", ")) take effect after a restart")
            }
        } catch {
            running.logger.error("the new configuration cannot be used, the old one stays in use: \(error)")
        }
    }

    /// Runs `services` to their end. After the deadline or a cancellation it waits only for the grace period, because foreign code
    /// may hang.
    private func runServices(_ services: ServiceGroup, _ logger: Logger, within times: ShutdownTimes) async throws {
        let outcome = FirstOutcome<Result<Void, any Error>>()
        let running = Task {
            do { outcome.give(.success(try await services.run())) } catch { outcome.give(.failure(error)) }
        }
        let draining = Task {
            guard await closedAfterDeadline(services, logger, after: times) else { return }
            running.cancel()
            guard await sleepUnlessCancelled(for: times.grace) else { return }
            logger.warning("the remaining connections do not close; the server shuts down without them")
            outcome.give(.failure(CancellationError()))
        }
        defer { draining.cancel() }
        try await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            running.cancel()
            times.begin()
            NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(times.forRequests)) {
                outcome.give(.failure(CancellationError()))
            }
        }.get()
    }

    /// Waits for `drain` and then for requests in progress, and closes the remaining connections at the deadline.
    /// - Returns: whether connections had to be closed.
    private func closedAfterDeadline(_ services: ServiceGroup, _ logger: Logger, after times: ShutdownTimes) async -> Bool {
        do {
            guard await end.stream.first(where: { true }) != nil else { return false }
            let shutdown = responder.context.configuration.shutdown
            logger.notice("shutting down", metadata: ["connections": "\(counters.connections.count)"])
            // Load balancers poll `/ready`, so keep serving until they have noticed.
            try await Task.sleep(for: shutdown.delay.duration)
            times.begin()
            await services.triggerGracefulShutdown()
            // Wait for responses in progress. This task is cancelled once all are sent.
            try await Task.sleep(for: times.forRequests)
        } catch {
            // Every request is answered.
            return false
        }
        logger.warning("closing the remaining connections", metadata: ["connections": "\(counters.connections.count)"])
        counters.connections.close()
        return true
    }

    /// The server of connections, and the services beside it, in the order in which they start.
    private func services(
        _ context: ServerContext, _ ready: @escaping @Sendable (ListenAddress) async -> Void
    ) -> [any Service] {
        let (logger, clients) = (context.logger, context.configuration.clients)
        let descriptors = DescriptorLimit.raised()
        let connections = min(clients.connections, descriptors.connections)
        if connections < clients.connections {
            logger.warning(
                """
                the limit of \(descriptors.files) open files allows \(connections) connections, not \
                \(clients.connections); raise the limit (ulimit -n, LimitNOFILE= in a unit) to \(2 * clients.connections + 256), or \
                lower clients.connections
                """)
        }
        let memory = context.pipeline.pool.memory
        let accepting = AcceptLimit(connections: connections, places: counters.connections.most) { [counters] count in
            counters.connections.closeIdle(count)
        }
        let services = ConnectionServices(
            fastPath: fastPath, clients: clients, connections: counters.connections, accessLog: counters.accessLog,
            responder: responder)
        let server: any Service =
            if let certificate {
                server(
                    of: SecureChannel(services, certificate: certificate, streams: .streams(of: memory)), context, accepting, ready)
            } else {
                server(of: ClientChannel(services: services), context, accepting, ready)
            }
        // A shutdown ends them from the last to the first.
        return [
            Housekeeping(cache: context.resources.cache, disk: context.resources.disk, logger: logger),
            SourceChanges(responder: responder), BlockedPictureSearch(responder: responder, logger: logger),
            PrefetchSchedule(context: responder.context),
            MetricSampling(responder: responder, counters: counters),
        ] + (counters.collector.map { [TraceExport(collector: $0, logger: logger)] } ?? [])
            + (MetricsExport(responder: responder, counters: counters).map { [$0] } ?? []) + [server]
    }

    /// The service that accepts connections and answers their requests.
    /// - Parameter channels: sets up each connection.
    private func server(
        of channels: some ServerChildChannel, _ context: ServerContext, _ accepting: AcceptLimit,
        _ ready: @escaping @Sendable (ListenAddress) async -> Void
    ) -> some Service {
        let (configuration, logger) = (context.configuration, context.logger)
        return HummingbirdCore.Server(
            childChannelSetup: channels,
            configuration: .init(
                address: configuration.listen.bindAddress, backlog: 1024, availableConnectionsDelegate: accepting),
            onServerRunning: { [readiness, counters] channel in
                do {
                    try configuration.listen.socketFile?.setPermissions(configuration.socketMode)
                } catch {
                    logger.error("cannot set the permissions of the socket: \(error)")
                }
                do {
                    try await channel.eventLoop.submit {
                        let spare = SpareDescriptor { counters.connections.count(.descriptors) }
                        try channel.pipeline.syncOperations.addHandlers(
                            [spare, AcceptBatch(accepting, spare), ConnectionAdmission(accepting, counters.connections, spare)],
                            position: .first)
                        // The first read was held back until these handlers were in place.
                        channel.read()
                    }.get()
                } catch {
                    // The server's channel is closed already.
                    return logger.error("the server cannot accept connections: \(error)")
                }
                readiness.begin()
                await ready(configuration.listen.bound(to: channel))
            },
            eventLoopGroup: ClientLoops.group,
            logger: logger)
    }
}

extension ListenAddress {
    fileprivate var bindAddress: BindAddress {
        switch self {
        case .host(let host, let port): .hostname(host, port: port)
        case .socket(let path): .unixDomainSocket(path: path)
        }
    }

    fileprivate var socketFile: SocketFile? {
        if case .socket(let path) = self { SocketFile(path: path) } else { nil }
    }

    /// This address with the port that the system assigned.
    fileprivate func bound(to channel: any Channel) -> ListenAddress {
        guard case .host(let host, let port) = self else { return self }
        return .host(host, port: channel.localAddress?.port ?? port)
    }
}

/// Divides `shutdown.deadline` among the phases of a shutdown. Requests get most of it; connections, records and the cache share the
/// rest. A deadline of two seconds or more always holds, even if something hangs. A shorter one can be exceeded by up to half a second.
private final class ShutdownTimes: Sendable {
    private let deadline: Duration
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    init(_ configuration: ShutdownConfiguration) { deadline = configuration.deadline.duration }

    /// The time for requests in progress.
    var forRequests: Duration { deadline - rest }

    /// The time for each of the three phases after the requests: connections, log and spans, and the cache. The disk tier needs at least
    /// 250 ms to close.
    var grace: Duration { max(rest / 3, Self.least) }

    /// The time left for the last phase.
    var left: Duration { max(grace, end.withLock { $0.map { $0 - .now } ?? deadline }) }

    private static let least = Duration.milliseconds(250)

    private var rest: Duration { min(deadline / 2, max(Self.least * 3, min(.seconds(1), deadline / 4))) }

    /// Starts the deadline.
    func begin() { end.withLock { $0 = .now + deadline } }
}

import Hummingbird
import HummingbirdCore
import NIOCore
import OnesheetCache
package import OnesheetCore
import ServiceLifecycle
package import Logging

/// An installation that listens: HTTP in front, housekeeping behind.
package struct Server: Sendable {
    private let installation: Installation
    private let answersEarly: Bool
    private let figures = ServerFigures()

    /// - Parameter answersEarly: whether plain requests are answered before the parser where memory has the answer.
    /// - Throws: `ConfigurationError` where the server would be open to the world without a key, and what `Installation` throws.
    package init(
        _ configuration: ServerConfiguration, _ plugins: PluginList, clock: WallClock = .system, logger: Logger,
        answersEarly: Bool = true
    ) throws {
        try configuration.requireProtection()
        self.answersEarly = answersEarly
        installation = try Installation(configuration, plugins, clock: clock, logger: logger)
    }

    /// Serves until SIGTERM or SIGINT or until the task is cancelled; requests under way are answered first.
    /// - Parameter ready: called once with the address, when connections are accepted.
    package func run(ready: @escaping @Sendable (ListenAddress) async -> Void) async throws {
        let (listen, clients) = (installation.configuration.listen, installation.configuration.clients)
        let images: [any ImageDialect] = [PosterRoute(installation: installation), ImageRoute(installation: installation)]
        let hits = HitsByLoop { [installation, figures] in PreparedHits(installation, dialects: images, figures: figures) }
        let application = Application(
            responder: Front(installation, routes: images + others, figures: figures),
            server: HTTPServerBuilder { [answersEarly, figures] in
                ClientChannel(answersEarly ? hits : nil, clients, figures, responder: $0)
            },
            configuration: .init(
                address: .hostname(listen.host, port: listen.port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(clients.connections, logger: installation.logger)),
            services: [
                Housekeeping(cache: installation.cache, disk: installation.disk, logger: installation.logger),
                SourceChanges(installation: installation), PrefetchSchedule(installation: installation),
            ],
            onServerRunning: { channel in
                await ready(ListenAddress(host: listen.host, port: channel.localAddress?.port ?? listen.port))
            },
            logger: installation.logger)
        var failure: (any Error)?
        do {
            try await application.runService()
        } catch let error as IOError {
            failure = ListenError(address: listen, code: error.errnoCode)
        } catch {
            failure = error
        }
        try await installation.shutdown()
        if let failure { throw failure }
    }

    /// The address space behind images, in the order of DESIGN's table.
    private var others: [any Route] {
        [
            LadderRoute(installation: installation),
            SourcesRoute(installation: installation), TitlesRoute(installation: installation),
            CacheRoute(installation: installation), BlockedRoute(installation: installation),
            PrefetchRoute(installation: installation), HealthRoute(), ReadyRoute(),
            MetricsRoute(installation: installation, figures: figures),
            PageRoute(installation: installation),
        ]
    }
}

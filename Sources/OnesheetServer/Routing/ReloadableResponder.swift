import Hummingbird
import Synchronization

/// What answers requests now. Another installation takes its place from one request to the next; what is under way ends as it began.
final class ReloadableResponder: HTTPResponder {
    typealias Context = Router.Context

    private struct Place: Sendable {
        let installation: Installation
        let router: Router
    }

    private let place: Mutex<Place>
    private let count = Atomic(0)
    private let figures: ServerFigures
    private let readiness: Readiness

    init(_ installation: Installation, _ figures: ServerFigures, _ readiness: Readiness) {
        (self.figures, self.readiness) = (figures, readiness)
        place = Mutex(Self.place(installation, figures, readiness))
    }

    private static func place(_ installation: Installation, _ figures: ServerFigures, _ readiness: Readiness) -> Place {
        let router = Router(
            RouteTable(installation, figures, readiness), cors: CORS(configuration: installation.configuration.cors),
            times: figures.times, logger: installation.logger)
        return Place(installation: installation, router: router)
    }

    var installation: Installation { place.withLock { $0.installation } }

    /// What answers requests that come now.
    var router: Router { place.withLock { $0.router } }

    /// How often the installation was exchanged.
    var exchanges: Int { count.load(ordering: .acquiring) }

    /// Requests that come from now on are answered by `installation`.
    func exchange(_ installation: Installation) {
        let new = Self.place(installation, figures, readiness)
        place.withLock { $0 = new }
        count.add(1, ordering: .releasing)
    }

    func respond(to request: Request, context: Context) async -> Response {
        await router.respond(to: request, context: context)
    }
}

extension RouteTable {
    /// The address space of `installation`.
    fileprivate convenience init(_ installation: Installation, _ figures: ServerFigures, _ readiness: Readiness) {
        let images = ImageContext(
            pipeline: installation.pipeline, sources: installation.sources, options: installation.options,
            signature: installation.signature, accept: installation.accept, clock: installation.clock)
        let routes: [any Route] =
            [PosterRoute(images: images), FreeImageRoute(images: images)]
            + installation.dialects.map { DialectRoute($0, images, installation.configuration) }
            + [
                LadderRoute(installation: installation),
                SourcesRoute(installation: installation), TitlesRoute(installation: installation),
                CacheRoute(installation: installation), BlockedRoute(installation: installation),
                PrefetchRoute(installation: installation), HealthRoute(), ReadyRoute(readiness: readiness),
                MetricsRoute(installation: installation, figures: figures), PageRoute(installation: installation),
            ]
        self.init(routes, images, figures)
    }
}

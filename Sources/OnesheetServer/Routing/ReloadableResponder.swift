import Hummingbird
import Synchronization

/// Answers requests by the configuration that holds now. Another one holds from one request to the next; requests under way end under
/// the one that they began with.
final class ReloadableResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    private struct Place: Sendable {
        let installation: Installation
        let router: Router
    }

    /// What the fast path has found about requests that come here next.
    let routedRequests = RoutedRequests()
    private let place: Mutex<Place>
    private let count = Atomic(0)
    private let makeRouter: @Sendable (Installation) -> Router

    /// - Parameter makeRouter: the router of an installation.
    init(_ installation: Installation, makeRouter: @escaping @Sendable (Installation) -> Router) {
        self.makeRouter = makeRouter
        place = Mutex(Place(installation: installation, router: makeRouter(installation)))
    }

    var installation: Installation { place.withLock { $0.installation } }

    /// Answers requests that come now.
    var router: Router { place.withLock { $0.router } }

    /// How often the installation was exchanged.
    var exchanges: Int { count.load(ordering: .acquiring) }

    /// Requests that come from now on are answered by `installation`.
    func exchange(_ installation: Installation) {
        let new = Place(installation: installation, router: makeRouter(installation))
        place.withLock { $0 = new }
        count.add(1, ordering: .releasing)
    }

    func respond(to request: Request, context: Context) async -> Response {
        let found = ClientRequest.current.flatMap { routedRequests.take(on: $0.channel) }
        return await router.respond(to: request, found: found)
    }
}

import Hummingbird
import Synchronization

/// Answers requests by the configuration that holds now. Another one holds from one request to the next; requests under way end under
/// the one that they began with.
final class ReloadableResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    private struct Place: Sendable {
        let context: ServerContext
        let router: Router
    }

    /// What the fast path has found about requests that come here next.
    let routedRequests = RoutedRequests()
    private let place: Mutex<Place>
    private let count = Atomic(0)
    private let makeRouter: @Sendable (ServerContext) -> Router

    /// - Parameter makeRouter: makes the router of a configuration.
    init(_ context: ServerContext, makeRouter: @escaping @Sendable (ServerContext) -> Router) {
        self.makeRouter = makeRouter
        place = Mutex(Place(context: context, router: makeRouter(context)))
    }

    /// The configuration that holds now.
    var context: ServerContext { place.withLock { $0.context } }

    /// Answers requests that come now.
    var router: Router { place.withLock { $0.router } }

    /// How often the configuration was exchanged.
    var exchanges: Int { count.load(ordering: .acquiring) }

    /// Requests that come from now on are answered by `context`.
    func exchange(_ context: ServerContext) {
        let new = Place(context: context, router: makeRouter(context))
        place.withLock { $0 = new }
        count.add(1, ordering: .releasing)
    }

    func respond(to request: Request, context: Context) async -> Response {
        let found = ClientRequest.current.flatMap { routedRequests.take(on: $0.channel) }
        return await router.respond(to: request, found: found)
    }
}

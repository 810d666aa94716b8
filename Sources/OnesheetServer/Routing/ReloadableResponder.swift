import HummingbirdCore
import Synchronization

/// Answers requests with the current configuration. A reload takes effect with the next request; requests in progress keep the
/// configuration they began with.
final class ReloadableResponder: Sendable {
    private struct State: Sendable {
        let context: ServerContext
        let router: Router
    }

    private let state: Mutex<State>
    private let count = Atomic(0)
    private let makeRouter: @Sendable (ServerContext) -> Router

    /// - Parameter makeRouter: creates the router of a configuration.
    init(_ context: ServerContext, makeRouter: @escaping @Sendable (ServerContext) -> Router) {
        self.makeRouter = makeRouter
        state = Mutex(State(context: context, router: makeRouter(context)))
    }

    /// The current configuration.
    var context: ServerContext { state.withLock { $0.context } }

    /// The current router.
    var router: Router { state.withLock { $0.router } }

    /// The number of reloads.
    var reloads: Int { count.load(ordering: .acquiring) }

    /// Makes `context` the current configuration.
    func reload(_ context: ServerContext) {
        let new = State(context: context, router: makeRouter(context))
        state.withLock { $0 = new }
        count.add(1, ordering: .releasing)
    }

    func respond(_ context: RequestContext) async -> Response { await router.respond(context) }
}

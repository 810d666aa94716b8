import Hummingbird
import NIOCore
import Synchronization

/// What answers requests now. Another installation takes its place from one request to the next; what is under way ends as it began.
final class Serving: HTTPResponder {
    typealias Context = Front.Context

    private struct Place: Sendable {
        let installation: Installation
        let routes: Routes
        let front: Front
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
        let routes = Routes(installation, figures, readiness)
        return Place(
            installation: installation, routes: routes, front: Front(installation, routes: routes.all, figures: figures))
    }

    var installation: Installation { place.withLock { $0.installation } }

    /// How often the installation was exchanged.
    var exchanges: Int { count.load(ordering: .acquiring) }

    /// Requests that come from now on are answered by `installation`.
    func exchange(_ installation: Installation) {
        let new = Self.place(installation, figures, readiness)
        place.withLock { $0 = new }
        count.add(1, ordering: .releasing)
    }

    /// What an event loop needs to answer plain requests by itself.
    func prepared(on loop: any EventLoop) -> PreparedHits {
        let place = place.withLock { $0 }
        return PreparedHits(place.installation, dialects: place.routes.images, figures, on: loop)
    }

    func respond(to request: Request, context: Context) async -> Response {
        await place.withLock { $0.front }.respond(to: request, context: context)
    }
}

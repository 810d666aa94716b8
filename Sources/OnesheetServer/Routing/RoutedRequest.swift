import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import Synchronization

/// A request with its route, and with the results of the fast path.
struct RoutedRequest: Sendable {
    /// An image request as far as the fast path has processed it.
    enum Image: Sendable {
        /// The address is malformed or not allowed.
        case refused(any Error)
        /// The address is valid but not an image's; `ImageRoute.other` answers.
        case document
        /// The parsed target and its cache lookup, which the pipeline continues: it does not look in memory again.
        case parsed(ParsedTarget, CacheLookUp)
    }

    let table: RouteTable
    let entry: RouteTable.Entry
    /// The percent-encoded path and the query, as sent.
    let target: String
    /// The path without the query.
    let path: String
    /// Begins with the question mark; empty without a query.
    let query: Substring
    /// The path after the route's prefix.
    let rest: Substring
    private(set) var image: Image?

    init(table: RouteTable, entry: RouteTable.Entry, target: String, path: String, query: Substring, rest: Substring) {
        self.table = table
        self.entry = entry
        self.target = target
        self.path = path
        self.query = query
        self.rest = rest
    }

    func with(_ image: Image) -> RoutedRequest {
        var copy = self
        copy.image = image
        return copy
    }
}

/// The target of an image request: parsed, checked and canonical.
struct ParsedTarget: Sendable {
    let address: ImageAddress
    /// The request, with the negotiated format if there is one.
    let request: ImageRequest
    /// The facts that every response at the address shares.
    let facts: AddressFacts
}

/// The next request of a connection, which the fast path hands over to the router.
final class NextRequest: Sendable {
    private let request = Mutex<RoutedRequest?>(nil)

    func handOver(_ parsed: RoutedRequest) { request.withLock { $0 = parsed } }

    /// The request that was handed over, if there is one.
    func take() -> RoutedRequest? { request.withLock { $0.take() } }
}

import HummingbirdCore
import OnesheetCore

/// Maps paths to routes, for both the fast path and the router.
final class RouteTable: Sendable {
    /// A route and its request counter.
    struct Entry: Sendable {
        /// `nil` for unknown paths.
        let route: (any Route)?
        /// The route, if it is an image route.
        let image: (any ImageRoute)?
        /// The route's name in metrics.
        let name: String
        let counter: RequestCounter

        fileprivate init(_ route: (any Route)?, _ counters: ServerCounters) {
            self.route = route
            image = route as? any ImageRoute
            name = image?.label ?? route?.prefix ?? "other"
            counter = counters.counter(of: name)
        }
    }

    let images: ImageContext
    /// The first entry that matches a path answers it.
    private let entries: [Entry]
    private let unknown: Entry

    /// The routes, in order of precedence.
    var routes: [any Route] { entries.compactMap(\.route) }
    /// Their names in metrics, in the same order.
    var names: [String] { entries.map(\.name) }

    init(_ routes: [any Route], images: ImageContext, counters: ServerCounters) {
        self.images = images
        entries = routes.map { Entry($0, counters) }
        unknown = Entry(nil, counters)
    }

    /// - Parameter target: the percent-encoded path and the query.
    func route(_ target: String) -> RoutedRequest {
        // Split by bytes: a combining mark after the question mark would otherwise hide it.
        let mark = target.firstIndex(ofMark: "?")
        let (path, query) = mark.map { (String(target[..<$0]), target[$0...]) } ?? (target, "")
        for merging in [false, true] {
            for entry in entries {
                let route = merging ? entry.image : entry.route
                guard let rest = route?.rest(of: path, merging: merging) else { continue }
                return RoutedRequest(table: self, entry: entry, target: target, path: path, query: query, rest: rest)
            }
        }
        return RoutedRequest(table: self, entry: unknown, target: target, path: path, query: query, rest: path[...])
    }
}

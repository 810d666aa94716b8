import Hummingbird
import OnesheetCore

/// The address space: tells the fast path and the router which route a path leads to.
final class RouteTable: Sendable {
    /// A route, and where its responses are counted.
    struct Entry: Sendable {
        /// `nil` for paths that lead nowhere.
        let route: (any Route)?
        /// The route, if it leads to images.
        let image: (any ImageRoute)?
        /// What the route is called in metrics.
        let name: String
        let counter: RequestCounter

        fileprivate init(_ route: (any Route)?, _ figures: ServerFigures) {
            self.route = route
            image = route as? any ImageRoute
            name = route?.prefix ?? "other"
            counter = figures.counter(of: name)
        }
    }

    let images: ImageContext
    /// In the order in which they are asked: the first that takes a path answers.
    private let entries: [Entry]
    private let nowhere: Entry

    init(_ routes: [any Route], _ images: ImageContext, _ figures: ServerFigures) {
        self.images = images
        entries = routes.map { Entry($0, figures) }
        nowhere = Entry(nil, figures)
    }

    /// - Parameter path: without a query, percent-encoded.
    func route(_ path: String) -> RoutedRequest {
        RoutedRequest(table: self, entry: entries.first { $0.route?.takes(path) ?? false } ?? nowhere, path: path)
    }
}

import HTTPTypes
import OnesheetPipeline
import Synchronization

/// What the server was asked and how long answers took, since it was started.
final class ServerFigures: Sendable {
    struct Answer: Hashable {
        let route: String
        let status: HTTPResponse.Status.Kind
    }

    /// How long routes took to answer, by route. What memory answered before the parser is not in it: nothing waits there.
    let times = Histograms()
    let connections: OpenConnections
    private let counters = Mutex<[String: RequestCounter]>([:])

    init(_ connections: OpenConnections) { self.connections = connections }

    /// Answers by route and class of status.
    var answers: [Answer: Int] {
        var answers: [Answer: Int] = [:]
        for (route, counter) in counters.withLock({ $0 }) {
            for (status, count) in counter.counts { answers[Answer(route: route, status: status)] = count }
        }
        return answers
    }

    /// Where the answers of a route are counted, also when the configuration is exchanged.
    /// - Parameter route: a route's prefix, so that there are only so many.
    func counter(of route: String) -> RequestCounter {
        counters.withLock { counters in
            let counter = counters[route] ?? RequestCounter()
            counters[route] = counter
            return counter
        }
    }
}

/// How often a route has answered, by class of status.
final class RequestCounter: Sendable {
    private static let kinds: [HTTPResponse.Status.Kind] = [
        .informational, .successful, .redirection, .clientError, .serverError, .invalid,
    ]

    private let byKind = InlineArray<6, Atomic<Int>> { _ in Atomic(0) }

    /// The counts that are not 0.
    var counts: [HTTPResponse.Status.Kind: Int] {
        var counts: [HTTPResponse.Status.Kind: Int] = [:]
        for kind in Self.kinds {
            let count = byKind[Self.index(kind)].load(ordering: .relaxed)
            if count > 0 { counts[kind] = count }
        }
        return counts
    }

    func add(_ kind: HTTPResponse.Status.Kind) { byKind[Self.index(kind)].add(1, ordering: .relaxed) }

    private static func index(_ kind: HTTPResponse.Status.Kind) -> Int {
        switch kind {
        case .informational: 0
        case .successful: 1
        case .redirection: 2
        case .clientError: 3
        case .serverError: 4
        case .invalid: 5
        }
    }
}

import HTTPTypes
import NIOCore
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
    private let counted = Mutex<[Answer: Int]>([:])
    private let early = Mutex<[EarlyPlace: EarlyAnswers]>([:])

    private struct EarlyPlace: Hashable {
        let route: String
        let loop: ObjectIdentifier
    }

    init(_ connections: OpenConnections) { self.connections = connections }

    /// Answers by route and class of status, both ways together.
    var answers: [Answer: Int] {
        var answers = counted.withLock { $0 }
        for figures in early.withLock({ $0.values }) {
            answers[Answer(route: figures.route, status: .successful), default: 0] += figures.whole
            answers[Answer(route: figures.route, status: .redirection), default: 0] += figures.notModified
        }
        return answers.filter { $0.value > 0 }
    }

    /// - Parameter route: a route's prefix, so that there are only so many.
    func add(_ status: HTTPResponse.Status, on route: String, after duration: Duration) {
        counted.withLock { $0[Answer(route: route, status: status.kind), default: 0] += 1 }
        times.add(duration, to: route)
    }

    /// What `loop` counts answers of `route` in.
    func early(on route: String, of loop: any EventLoop) -> EarlyAnswers {
        early.withLock { early in
            let place = EarlyPlace(route: route, loop: ObjectIdentifier(loop))
            let figures = early[place] ?? EarlyAnswers(route: route)
            early[place] = figures
            return figures
        }
    }
}

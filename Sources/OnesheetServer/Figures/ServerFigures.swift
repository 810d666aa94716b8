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
    private let counted = Mutex<[Answer: Int]>([:])
    private let early = Mutex<[EarlyAnswers]>([])
    private let open = Mutex(0)

    /// Connections open now.
    var connections: Int { open.withLock { $0 } }

    /// Answers by route and class of status, both ways together.
    var answers: [Answer: Int] {
        var answers = counted.withLock { $0 }
        for figures in early.withLock({ $0 }) {
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

    /// Figures of `route` for one event loop to count in.
    func early(on route: String) -> EarlyAnswers {
        let figures = EarlyAnswers(route: route)
        early.withLock { $0.append(figures) }
        return figures
    }

    func connectionOpened() { open.withLock { $0 += 1 } }
    func connectionClosed() { open.withLock { $0 -= 1 } }
}

import HTTPTypes
import NIOCore
import OnesheetPipeline
import OnesheetTransport
import Synchronization

/// Counters of requests and latencies since the server started.
final class ServerCounters: Sendable {
    struct Answer: Hashable {
        let route: String
        let status: HTTPResponse.Status.Kind
    }

    let connections: OpenConnections
    /// The access log, which counts its losses. `nil` if there is none.
    let accessLog: AccessLog?
    /// The tracer of the configured collector, which counts its spans. `nil` if there is none.
    let collector: CollectorTracer?
    /// The metrics of the last hour.
    let history = MetricHistory()
    /// The last server errors.
    let errors = RecentErrors()
    private let counters = Mutex<[String: RequestCounter]>([:])

    init(_ connections: OpenConnections, accessLog: AccessLog?, collector: CollectorTracer?) {
        self.connections = connections
        self.accessLog = accessLog
        self.collector = collector
    }

    /// Responses by route and status class.
    var answers: [Answer: Int] {
        var answers: [Answer: Int] = [:]
        for (route, counter) in counters.withLock({ $0 }) {
            for (status, count) in counter.counts { answers[Answer(route: route, status: status)] = count }
        }
        return answers
    }

    /// The counters of all routes.
    var byRoute: [String: RequestCounter] { counters.withLock { $0 } }

    /// The counter of a route. Counters survive reloads.
    /// - Parameter route: a route's prefix, so that the number of counters is bounded.
    func counter(of route: String) -> RequestCounter {
        counters.withLock { counters in
            let counter = counters[route] ?? RequestCounter()
            counters[route] = counter
            return counter
        }
    }
}

/// Counts a route's responses by status class, their bytes and their times. A response of the fast path costs a few atomic additions.
final class RequestCounter: Sendable {
    private static let kinds: [HTTPResponse.Status.Kind] = [
        .informational, .successful, .redirection, .clientError, .serverError, .invalid,
    ]

    private let byKind = InlineArray<6, Atomic<Int>> { _ in Atomic(0) }
    private let byTime = InlineArray<14, Atomic<Int>> { _ in Atomic(0) }
    private let nanoseconds = Atomic(0)
    private let sent = Atomic(0)
    private let immediate = Atomic(0)

    /// The upper bounds of `Histogram`'s buckets in nanoseconds.
    private static let bounds = Histogram.bounds.map { Int($0 * 1e9) }

    /// The counts above 0.
    var counts: [HTTPResponse.Status.Kind: Int] {
        var counts: [HTTPResponse.Status.Kind: Int] = [:]
        for kind in Self.kinds {
            let count = byKind[Self.index(kind)].load(ordering: .relaxed)
            if count > 0 { counts[kind] = count }
        }
        return counts
    }

    /// The times until the response begins.
    var times: Histogram {
        Histogram(
            counts: (0..<byTime.count).map { byTime[$0].load(ordering: .relaxed) },
            sum: Double(nanoseconds.load(ordering: .relaxed)) / 1e9)
    }

    /// Bytes of bodies whose length is known.
    var bytes: Int { sent.load(ordering: .relaxed) }
    /// Responses of the fast path.
    var immediateAnswers: Int { immediate.load(ordering: .relaxed) }

    /// Counts a response.
    /// - Parameters:
    ///   - bytes: of its body.
    ///   - time: the nanoseconds until its head.
    func add(_ kind: HTTPResponse.Status.Kind, bytes: Int, nanoseconds time: Int) {
        byKind[Self.index(kind)].add(1, ordering: .relaxed)
        byTime[Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count].add(1, ordering: .relaxed)
        nanoseconds.add(time, ordering: .relaxed)
        sent.add(bytes, ordering: .relaxed)
    }

    /// Counts a response of the fast path.
    /// - Parameter begun: when its request was received.
    func addImmediate(_ kind: HTTPResponse.Status.Kind, bytes: Int, since begun: NIODeadline) {
        add(kind, bytes: bytes, nanoseconds: Int((.now() - begun).nanoseconds))
        immediate.add(1, ordering: .relaxed)
    }

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

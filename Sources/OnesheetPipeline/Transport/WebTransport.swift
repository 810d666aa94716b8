package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import OnesheetCore

/// HTTP to the outside, with the origin policy held against every URL, every redirect and every address before it is connected to.
///
/// Each answer is gathered within bounds of size, time and memory, and nothing is followed, kept or unpacked that these do not cover.
package final class WebTransport: HTTPTransport {
    private static let maximumRedirects = 5
    /// For what goes on before a request is sent and after its answer is whole.
    private static let slack = Duration.seconds(1)

    private let limits: Limits
    private let bounds: ExchangeBounds
    private let logger: Logger
    /// For what is work and not waiting: unpacking, and reading whom to trust.
    private let threads = NIOThreadPool(numberOfThreads: 2)
    private let connections: OriginConnections
    private let rateLimiter = RateLimiter()
    private let throttle: OriginThrottle
    private let memory: MemoryBudget

    /// - Parameter resolver: `nil` takes the system's.
    package convenience init(
        limits: Limits, memory: MemoryBudget = MemoryBudget(limit: 512 << 20),
        group: any EventLoopGroup = NIOSingletons.posixEventLoopGroup, retry: Retry = Retry(),
        clock: WallClock = .system, resolver: (any NameResolver)? = nil, logger: Logger
    ) {
        self.init(
            limits: limits, memory: memory, group: group, retry: retry, clock: clock, resolver: resolver,
            trust: .makeClientConfiguration(), grace: .seconds(10), patience: limits.originIdleTimeout / 2, logger: logger)
    }

    /// - Parameters:
    ///   - trust: whose certificates are good.
    ///   - grace: how long a body may come at less than the slowest rate.
    ///   - patience: how long any answer may be waited for while others wait for its host.
    init(
        limits: Limits, memory: MemoryBudget, group: any EventLoopGroup, retry: Retry, clock: WallClock,
        resolver: (any NameResolver)?, trust: TLSConfiguration, grace: TimeAmount, patience: Duration, logger: Logger
    ) {
        self.limits = limits
        self.memory = memory
        self.logger = logger
        bounds = ExchangeBounds(silence: .nanoseconds(limits.originIdleTimeout.nanoseconds), grace: grace)
        threads.start()
        connections = OriginConnections(
            group: group, resolver: resolver ?? SystemResolver(limit: limits.originIdleTimeout, clock: clock),
            security: TLSClient(trust, threads: threads))
        let slots = HostSlots(
            limit: limits.originConcurrency, queue: limits.originQueue, patience: patience / .seconds(1), clock: clock)
        throttle = OriginThrottle(slots: slots, breaker: CircuitBreaker(clock: clock), retry: retry, clock: clock)
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// Connections that are open at the moment.
    var openConnections: Int { connections.count }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        guard let url = WebURL(request.url) else { throw .invalidURL(request.url) }
        let time = policy.timeout ?? limits.originTimeout
        let answer: HTTPAnswer?
        do {
            answer = try await withTimeout(time + Self.slack) { [self] in
                try await follow(url, headers: request.headers, policy, until: .now() + .nanoseconds(time.nanoseconds))
            }
        } catch let error as HTTPTransportError {
            throw error
        } catch {
            throw .failed(url: request.url, reason: "cancelled")
        }
        guard let answer else {
            throw ExchangeFailure(.timedOut, .connecting).error(at: url, isNamed: policy.names(url, afterRedirect: false))
        }
        return answer
    }

    /// Fetches `start` and what it redirects to, each step under the whole policy. Headers that were meant for its host go to no other,
    /// and what is wrong with another is told as if it were wrong with `start`: where a redirect leads is its origin's choice.
    private func follow(
        _ start: WebURL, headers: [String: String], _ policy: OriginPolicy, until deadline: NIODeadline
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        try OriginGuard.check(start, policy)
        var url = start
        for _ in 0...Self.maximumRedirects {
            let answer: HTTPAnswer
            do throws(HTTPTransportError) {
                answer = try await step(to: url, from: start, headers: headers, policy, until: deadline)
            } catch {
                throw url == start ? error : error.moved(to: start)
            }
            guard answer.isRedirect, let location = answer.headers["location"] else { return answer }
            guard let next = url.resolving(location) else {
                throw .failed(url: start.description, reason: "it redirects to what is not an http or https URL")
            }
            if let allow = policy.allow, !allow.contains(where: { $0.matches(next) }) {
                logger.info("a redirect was refused", metadata: ["url": "\(shown(start))", "to": "\(shown(next))"])
                throw .forbidden(url: start.description, reason: "it redirects to where the source's allow-list does not reach")
            }
            url = next
        }
        throw .tooManyRedirects(url: start.description)
    }

    private func step(
        to url: WebURL, from start: WebURL, headers: [String: String], _ policy: OriginPolicy, until deadline: NIODeadline
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        do throws(HostSlots.Full) {
            try await rateLimiter.wait(for: policy, atMost: policy.timeout ?? limits.originTimeout)
        } catch {
            throw .crowded(url: url.description, retryAfter: error.retryAfter)
        }
        let isAtStart = OriginHost(url) == OriginHost(start)
        let fields = isAtStart ? policy.headers.merging(headers) { $1 } : policy.headersForStrangers
        return try await throttle.ask(url, isNamed: policy.names(url, afterRedirect: !isAtStart)) {
            [self] attempt async throws(ExchangeFailure) in
            do throws(ExchangeFailure) {
                return try await fetch(url, fields: fields, policy, until: deadline, attempt: attempt)
            } catch {
                // Here everything may be said: the asker hears less.
                logger.info("a fetch failed", metadata: ["url": "\(shown(url))", "reason": "\(error.detail)"])
                throw error
            }
        }
    }

    private func fetch(
        _ url: WebURL, fields: [String: String], _ policy: OriginPolicy, until deadline: NIODeadline,
        attempt: OriginThrottle.Attempt
    ) async throws(ExchangeFailure) -> HTTPAnswer {
        let limit = policy.maxBytes ?? limits.originBytes
        let order = OriginOrder(
            head: HTTPRequestHead(url, fields: fields), bounds: bounds, deadline: deadline, limit: limit, budget: memory,
            place: attempt.place)
        let coded = try await connections.send(order, to: OriginHost(url), in: policy.networks, isFresh: attempt.isFresh)
        let reply = try await ContentCoding.undone(coded, limit: limit, budget: memory, on: threads)
        return HTTPAnswer(status: reply.status, headers: reply.headers.joined(), body: reply.body)
    }

    /// Closes all connections. Nothing may be sent afterwards.
    package func shutdown() async throws {
        connections.shutdown()
        try await threads.shutdownGracefully()
    }
}

extension HTTPTransportError {
    /// The same, of the URL that was asked for.
    fileprivate func moved(to start: WebURL) -> HTTPTransportError {
        let url = start.description
        return switch self {
        case .forbidden(_, let reason): .forbidden(url: url, reason: reason)
        case .invalidURL: .invalidURL(url)
        case .timedOut: .timedOut(url: url)
        case .tooLarge(_, let limit): .tooLarge(url: url, limit: limit)
        case .tooManyRedirects: .tooManyRedirects(url: url)
        case .unavailable(_, let seconds): .unavailable(url: url, retryAfter: seconds)
        case .crowded(_, let seconds): .crowded(url: url, retryAfter: seconds)
        case .overloaded: .overloaded(url: url)
        case .failed(_, let reason): .failed(url: url, reason: reason)
        }
    }
}

extension OriginPolicy {
    /// The policy's headers without those that prove who we are.
    fileprivate var headersForStrangers: [String: String] {
        headers.filter { !["authorization", "proxy-authorization", "cookie"].contains($0.key.lowercased()) }
    }
}

extension HTTPHeaders {
    /// Names in lower case, values of one name joined (RFC 9110 §5.2).
    fileprivate func joined() -> [String: String] {
        Dictionary(grouping: self) { $0.name.lowercased() }.mapValues { $0.map(\.value).joined(separator: ", ") }
    }
}

extension Duration {
    /// A day is for ever here, and can be added to any time.
    fileprivate var nanoseconds: Int64 { Int64(min(self / .nanoseconds(1), 86_400e9)) }
}

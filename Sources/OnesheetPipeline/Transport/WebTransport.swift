package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import OnesheetCore
package import OnesheetTransport
import Tracing

/// Outgoing HTTP. Checks every URL, redirect and address against the origin policy before it connects.
///
/// Each response has limits of size, time and memory. All redirects, stored bytes and decoded bodies count against them.
package final class WebTransport: HTTPTransport {
    private static let maximumRedirects = 5
    /// The hung requests of a host beside which it gets others, as a multiple of its concurrent ones. A second makes a request hung, and
    /// five end it, so this is what a host that answers nothing comes to.
    private static let hungShare = 4

    private let limits: Limits
    private let bounds: ExchangeBounds
    private let logger: Logger
    /// Runs blocking work: decoding, and reading the trust roots.
    private let threads = NIOThreadPool(numberOfThreads: 2)
    private let connections: OriginConnections
    /// The turns of sources that may make only so many requests per second.
    private let turns = Slots<OriginPolicy>(SlotRules(places: .max, waiting: .everybody(.max)))
    private let throttle: OriginThrottle
    private let memory: MemoryBudget
    /// Whether only the operator reads the errors, as those of a command. Then they say what happened at any host.
    private let isForOperator: Bool

    /// - Parameters:
    ///   - authorities: `nil` trusts the system's.
    ///   - isForOperator: whether only the operator reads the errors.
    ///   - resolver: `nil` uses the system resolver.
    package convenience init(
        limits: Limits, memory: MemoryBudget = MemoryBudget(limit: 512 << 20), authorities: TrustedAuthorities? = nil,
        group: any EventLoopGroup = OriginLoops.group, retry: Retry = Retry(),
        clock: WallClock = .system, resolver: SystemResolver? = nil, isForOperator: Bool = false, logger: Logger
    ) {
        self.init(
            limits: limits, memory: memory, group: group, retry: retry, clock: clock, resolver: resolver,
            trust: authorities?.configuration ?? .makeClientConfiguration(), grace: .seconds(10),
            patience: limits.originIdleTimeout / 2, isForOperator: isForOperator, logger: logger)
    }

    /// - Parameters:
    ///   - trust: the trusted certificates.
    ///   - grace: the time for which a body may arrive below the least rate.
    ///   - patience: the time for which any response may be awaited while others wait for its host.
    init(
        limits: Limits, memory: MemoryBudget, group: any EventLoopGroup, retry: Retry, clock: WallClock,
        resolver: SystemResolver?, trust: TLSConfiguration, grace: TimeAmount, patience: Duration, isForOperator: Bool = false,
        logger: Logger
    ) {
        self.limits = limits
        self.memory = memory
        self.isForOperator = isForOperator
        self.logger = logger
        var bounds = ExchangeBounds(silence: .nanoseconds(limits.originIdleTimeout.nanoseconds))
        bounds.grace = grace
        self.bounds = bounds
        threads.start()
        connections = OriginConnections(
            group: group, resolver: resolver ?? SystemResolver(limit: limits.originIdleTimeout, clock: clock),
            security: TLSClient(trust, threads: threads))
        let places = limits.originConcurrency
        let slots = Slots<OriginHost>(
            SlotRules(
                places: places, waiting: .everybody(limits.originQueue), beside: Self.hungShare * places,
                patience: patience / .seconds(1)))
        throttle = OriginThrottle(slots: slots, breaker: CircuitBreaker(clock: clock), retry: retry, clock: clock)
    }

    deinit { threads.shutdownGracefully { _ in } }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        guard let url = WebURL(request.url) else { throw .invalidURL(request.url) }
        let time = OriginTime(policy.timeout ?? limits.originTimeout)
        guard let body = request.body else { return try await follow(url, headers: request.headers, policy, in: time) }
        // A redirect could carry the body, which may have a key, to another host.
        try OriginGuard.check(url, policy)
        return try await step(to: url, from: url, headers: request.headers, body: body, policy, in: time)
    }

    /// Fetches `start` and its redirects, each under the whole policy. Headers for its host are not sent to others. The failure of
    /// another host is reported as a failure of `start`, because the origin chooses its redirects.
    private func follow(
        _ start: WebURL, headers: [String: String], _ policy: OriginPolicy, in time: OriginTime
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        try OriginGuard.check(start, policy)
        var url = start
        var headers = headers
        var redirects: [[String: String]] = []
        for _ in 0...Self.maximumRedirects {
            var answer: HTTPAnswer
            do throws(HTTPTransportError) {
                answer = try await step(to: url, from: start, headers: headers, policy, in: time)
            } catch {
                throw url == start ? error : error.moved(to: start)
            }
            guard answer.isRedirect, let location = answer.headers["location"] else {
                answer.redirects = redirects
                return answer
            }
            redirects.append(answer.redirectFields)
            guard let next = url.resolving(location) else {
                throw .failed(url: start.description, reason: "it redirects to a target that is not an http or https URL")
            }
            do throws(HTTPTransportError) { try OriginGuard.check(next, policy) } catch {
                logger.info("a redirect was refused", metadata: ["url": "\(shown(start))", "to": "\(shown(next))"])
                throw .forbidden(url: start.description, reason: "it redirects to a URL outside the source's allow-list")
            }
            url = next
            // The validators are those of what was fetched before, which may have come from another URL (RFC 9110 §13.1).
            for name in ["if-none-match", "if-modified-since"] { headers[name] = nil }
        }
        throw .tooManyRedirects(url: start.description)
    }

    private func step(
        to url: WebURL, from start: WebURL, headers: [String: String], body: ByteBuffer? = nil, _ policy: OriginPolicy,
        in time: OriginTime
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        let turn = { @Sendable [self] () async throws(HTTPTransportError) in try await takeTurn(for: url, policy, in: time) }
        try await turn()
        let isAtStart = OriginHost(url) == OriginHost(start)
        let fields =
            isAtStart
            ? policy.headers.merging(headers) { $1 }.merging(policy.signer?.headers(url) ?? [:]) { $1 } : policy.headersForStrangers
        return try await throttle.ask(
            url, isNamed: isForOperator || policy.names(url, afterRedirect: !isAtStart), isChosen: policy.visitorsChoose, in: time,
            again: turn
        ) { [self] attempt async throws(ExchangeFailure) in
            do throws(ExchangeFailure) {
                return try await fetch(url, fields: fields, body: body, policy, until: time.deadline, attempt: attempt)
            } catch {
                // The log may have the details; the caller gets fewer.
                logger.info("a fetch failed", metadata: ["url": "\(shown(url))", "reason": "\(error.detail)"])
                throw error
            }
        }
    }

    /// Waits for the client's turn at a source with a rate. Each attempt has one: an overloaded service needs its rate most.
    private func takeTurn(for url: WebURL, _ policy: OriginPolicy, in time: OriginTime) async throws(HTTPTransportError) {
        guard let rate = policy.rate, rate > 0 else { return }
        do throws(NoPlace) {
            let place = try await turns.enter(policy, every: min(1 / rate, 86_400), within: time.longestWait)
            time.waited(place.waited)
            place.leave()
        } catch {
            switch error {
            case .full(let seconds): throw .crowded(url: url.description, retryAfter: seconds)
            case .hung, .cancelled: throw .failed(url: url.description, reason: "cancelled")
            }
        }
    }

    private func fetch(
        _ url: WebURL, fields: [String: String], body: ByteBuffer?, _ policy: OriginPolicy, until deadline: NIODeadline,
        attempt: OriginThrottle.Attempt
    ) async throws(ExchangeFailure) -> HTTPAnswer {
        try await withSpan(named: body == nil ? "GET" : "POST", ofKind: .client) { span async throws(ExchangeFailure) in
            let limit = policy.maxBytes ?? limits.originBytes
            let head = HTTPRequestHead(
                url, method: body == nil ? .GET : .POST, body: body?.readableBytes, fields: fields.merging(traceFields()) { $1 })
            guard let reservation = memory.reserve(0) else { throw ExchangeFailure(.noMemory, .connecting) }
            var order = OriginOrder(head: head, bounds: bounds, deadline: deadline, limit: limit)
            order.body = body
            order.memory = reservation
            order.onHead = { attempt.place.answered() }
            order.mayStay = { attempt.place.mayStay(after: $0) }
            span?.attributes["server.address"] = url.host
            span?.attributes["url.full"] = shown(url)
            let coded = try await connections.send(
                order, to: OriginHost(url), in: policy.networks, via: policy.proxy, isNew: attempt.needsNewConnection)
            span?.attributes["http.response.status_code"] = coded.status
            // Equal ones are one by now.
            guard coded.headers["location"].count < 2 else {
                throw ExchangeFailure(.unusable("it redirects to two targets"), .answered)
            }
            let reply = try await ContentCoding.undone(coded, limit: limit, budget: memory, on: threads)
            var answer = HTTPAnswer(status: reply.status, headers: reply.headers.joined(), body: reply.body)
            answer.memory = reply.memory
            return answer
        }
    }

    /// Whether the hosts answer that the operator named in the allow-list of `policy`: the worst of them. A stranger may have chosen the
    /// others, and a source that a service leads to any host is not ill because one of them is.
    package func health(under policy: OriginPolicy) -> SourceHealth {
        let hosts = (policy.allow ?? []).filter(\.isForOneHost).compactMap { WebURL($0.description).map(OriginHost.init) }
        return .worst(Set(hosts).map(throttle.breaker.health))
    }

    /// The number of hosts that cannot be reached, do not answer, or asked for a pause.
    package var troubledHosts: Int { throttle.breaker.troubledHosts }

    /// Closes all connections. No request may follow.
    package func shutdown() async throws {
        connections.shutdown()
        try await threads.shutdownGracefully()
    }
}

extension HTTPTransportError {
    /// The same failure, for the URL of the caller.
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

extension HTTPAnswer {
    /// The fields of a redirect. A temporary one that says nothing of its freshness is not reused without a question (RFC 9110 §15.4.3,
    /// RFC 9111 §4.2.2): addresses such as `…/latest` lead elsewhere tomorrow.
    fileprivate var redirectFields: [String: String] {
        let says = ["cache-control", "expires", "pragma"].contains { headers[$0] != nil }
        return says || status == 301 || status == 308 ? headers : headers.merging(["cache-control": "max-age=0"]) { $1 }
    }
}

extension OriginPolicy {
    /// The policy's headers without credentials.
    fileprivate var headersForStrangers: [String: String] {
        headers.filter { !SecretNames.mayBeOne($0.key) }
    }
}

extension HTTPHeaders {
    /// Names in lower case, with repeated fields joined (RFC 9110 §5.2).
    fileprivate func joined() -> [String: String] {
        Dictionary(grouping: self) { $0.name.lowercased() }.mapValues { $0.map(\.value).joined(separator: ", ") }
    }
}

extension Duration {
    /// One day stands for ever, and can be added to any time.
    fileprivate var nanoseconds: Int64 { Int64(min(self / .nanoseconds(1), 86_400e9)) }
}

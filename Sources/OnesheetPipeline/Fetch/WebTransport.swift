import AsyncHTTPClient
package import Logging
package import NIOCore
import NIOHTTP1
import NIOPosix
package import OnesheetCore
import Synchronization

/// HTTP to the outside, over AsyncHTTPClient, with the origin policy held against every URL, redirect and connected address.
///
/// Cookies, compression and the client library's own redirects and retries are off: each is a way around a limit.
package final class WebTransport: HTTPTransport {
    private static let maximumRedirects = 5

    private let limits: Limits
    private let logger: Logger
    private let group: any EventLoopGroup
    /// A pooled connection was checked against one set of networks, so each set has its own pool.
    private let clients = Mutex<[[NetworkRange]: HTTPClient]>([:])
    private let pace = Pace()
    private let manners: OriginManners
    private let memory: MemoryBudget

    package init(
        limits: Limits, memory: MemoryBudget = MemoryBudget(limit: 512 << 20),
        group: any EventLoopGroup = NIOSingletons.posixEventLoopGroup, retry: Retry = Retry(),
        clock: WallClock = .system, logger: Logger
    ) {
        self.limits = limits
        self.group = group
        self.memory = memory
        self.logger = logger
        manners = OriginManners(
            slots: HostSlots(limit: limits.originConcurrency, queue: limits.originQueue, clock: clock),
            breaker: CircuitBreaker(clock: clock), retry: retry, clock: clock)
    }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        guard let url = WebURL(request.url) else { throw .invalidURL(request.url) }
        let answer: HTTPAnswer?
        do {
            answer = try await within(policy.timeout ?? limits.originTimeout) { [self] in
                try await follow(url, request.headers, policy)
            }
        } catch let error as HTTPTransportError {
            throw error
        } catch {
            throw TransportFailure.error(error, at: request.url)
        }
        guard let answer else {
            manners.breaker.fail(OriginHost(url))
            throw .timedOut(url: request.url)
        }
        return answer
    }

    /// Fetches `start` and what it redirects to, each step under the whole policy. Headers that were meant for its host go to no other.
    private func follow(
        _ start: WebURL, _ headers: [String: String], _ policy: OriginPolicy
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        var url = start
        for _ in 0...Self.maximumRedirects {
            try OriginGuard.check(url, policy)
            await pace.wait(for: policy)
            let headers = OriginHost(url) == OriginHost(start) ? policy.headers.merging(headers) { $1 } : policy.headersForStrangers
            let target = url
            let answer = try await manners.ask(target) { [self] () async throws(HTTPTransportError) in
                try await fetch(target, headers, policy)
            }
            guard answer.isRedirect, let location = answer.headers["location"] else { return answer }
            guard let next = url.resolving(location) else { throw .invalidURL(location) }
            url = next
        }
        throw .tooManyRedirects(url: start.description)
    }

    private func fetch(
        _ url: WebURL, _ headers: [String: String], _ policy: OriginPolicy
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        var request = HTTPClientRequest(url: url.description)
        request.headers.add(name: "User-Agent", value: "onesheet")
        request.headers.add(name: "Accept", value: "*/*")
        // Nothing here unpacks: a small answer that unpacks to a large one is a way around the limit.
        request.headers.add(name: "Accept-Encoding", value: "identity")
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        let limit = policy.maxBytes ?? limits.originBytes
        do {
            let response = try await client(for: policy.networks)
                .execute(request, timeout: .nanoseconds((policy.timeout ?? limits.originTimeout).nanoseconds), logger: logger)
            let body = try await collect(response, url.description, limit)
            return HTTPAnswer(status: Int(response.status.code), headers: response.headers.joined(), body: body)
        } catch {
            throw TransportFailure.error(error, at: url.description)
        }
    }

    /// The whole body, as far as it is allowed and there is memory: what a client library collects by itself nobody counts.
    private func collect(_ response: HTTPClientResponse, _ url: String, _ limit: Int) async throws -> ByteBuffer {
        let length = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard length <= limit else { throw HTTPTransportError.tooLarge(url: url, limit: limit) }
        guard let hold = memory.reserve(length) else { throw HTTPTransportError.overloaded(url: url) }
        var body = ByteBuffer()
        body.reserveCapacity(length)
        for try await var piece in response.body {
            guard body.readableBytes + piece.readableBytes <= limit else {
                throw HTTPTransportError.tooLarge(url: url, limit: limit)
            }
            guard hold.grow(to: body.readableBytes + piece.readableBytes) else { throw HTTPTransportError.overloaded(url: url) }
            body.writeBuffer(&piece)
        }
        return body
    }

    private func client(for networks: [NetworkRange]) -> HTTPClient {
        clients.withLock { clients in
            if let client = clients[networks] { return client }
            var configuration = HTTPClient.Configuration()
            configuration.redirectConfiguration = .disallow
            configuration.httpVersion = .http1Only
            configuration.timeout.connect = .nanoseconds(limits.originTimeout.nanoseconds)
            configuration.timeout.read = .nanoseconds(limits.originIdleTimeout.nanoseconds)
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.originConcurrency
            // Heads and chunk sizes come on top of the body.
            let ceiling = limits.originBytes + (1 << 20)
            configuration.http1_1ConnectionDebugInitializer = { channel in
                OriginGuard.check(channel, networks).flatMap {
                    channel.eventLoop.submit {
                        try channel.pipeline.syncOperations.addHandler(ByteCeiling(limit: ceiling), position: .first)
                    }
                }
            }
            let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
            clients[networks] = client
            return client
        }
    }

    /// Closes all connections. Nothing may be sent afterwards.
    package func shutdown() async throws {
        let all = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        for client in all { try await client.shutdown() }
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
        var all: [String: String] = [:]
        for (name, value) in self { all[name.lowercased()] = all[name.lowercased()].map { "\($0), \(value)" } ?? value }
        return all
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { Int64(min(self / .nanoseconds(1), 9e18)) }
}

internal import AsyncHTTPClient
internal import Crypto
internal import FoundationEssentials
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
package import OnesheetCore

/// The timeouts of calls. All belong to us: a store may hang at any byte.
package struct S3Deadlines: Sendable, Equatable {
    /// For a connection, including TLS.
    package var connect: Duration
    /// From the call to the head of the answer to a read, including the connection.
    package var head: Duration
    /// From the call to the last byte of a read.
    package var read: Duration
    /// The same for writes, deletions and lists.
    package var write: Duration

    /// - Parameter deadline: the timeout of a read; the others follow from it.
    package init(_ deadline: Duration) {
        (read, head, write) = (deadline, deadline / 2, deadline * 5)
        connect = min(max(deadline / 4, .milliseconds(250)), .seconds(1))
    }
}

/// Sends signed requests to a bucket and reads whole answers within deadlines and limits.
///
/// `HTTPTransport` fetches from origins that nobody trusts; a store is configured by the operator and may be anywhere.
package final class S3Client: Sendable {
    /// A request to the bucket.
    package struct Request: Sendable {
        package var method = "GET"
        /// Percent-encoded, from `S3Address`.
        package var path: String
        package var query: [(name: String, value: String)] = []
        package var headers: [(name: String, value: String)] = []
        package var body: ByteBuffer?
        /// The verb and the object, for errors: `read films/1`.
        package var operation: String
        package var isRead = false
        /// Whether a second sending does no harm, for a connection that the store closes at the same moment.
        package var isRepeatable = true

        package init(path: String, operation: String) { (self.path, self.operation) = (path, operation) }
    }

    /// A whole answer.
    package struct Answer: Sendable {
        package var status: Int
        package var entityTag: String?
        /// The region of the bucket, which Amazon tells in answers to requests that went elsewhere.
        package var region: String?
        /// The body, `nil` if it has more bytes than the limit.
        package var body: ByteBuffer?
    }

    private let address: S3Address
    private let signer: RequestSigner
    private let clock: WallClock
    package let deadlines: S3Deadlines
    private let client: HTTPClient
    /// Parses documents and computes digests.
    private let thread: NIOThreadPool

    package init(address: S3Address, signer: RequestSigner, clock: WallClock, deadlines: S3Deadlines) {
        (self.address, self.signer, self.clock, self.deadlines) = (address, signer, clock, deadlines)
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // A signature is for one host, so a redirect is an error. Certificates are verified.
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.timeout.connect = TimeAmount(deadlines.connect)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // Shorter than the stores' own, so that they rarely close a connection that a request is about to use.
        configuration.connectionPool.idleTimeout = .seconds(5)
        // A refused connection is known at once, and the caller has a circuit breaker.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(
            eventLoopGroupProvider: .shared(.singletonMultiThreadedEventLoopGroup), configuration: configuration)
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    deinit {
        // Both live on until they have ended, and both ignore it if `shutdown` has ended them before.
        client.shutdown().whenComplete { _ in }
        thread.shutdownGracefully { _ in }
    }

    /// Ends all connections.
    package func shutdown() async {
        do { try await client.shutdown() } catch {
            // It has been shut down before.
        }
    }

    /// Sends a request and returns its whole answer, whatever its status.
    /// - Parameter limit: the most bytes of the body of an answer with status 200. All others are cut at 16 KiB.
    package func send(_ request: Request, limit: Int) async throws(StoreError) -> Answer {
        let body = request.body
        let digest: String
        if let body {
            digest = try await onThread(request.operation) {
                var hash = SHA256()
                body.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                return RequestSigner.hexadecimal(hash.finalize())
            }
        } else {
            digest = RequestSigner.emptyDigest
        }
        let signed = signedRequest(request, digest)
        let deadline = request.isRead ? deadlines.read : deadlines.write
        let head = NIODeadline.now() + TimeAmount(request.isRead ? deadlines.head : deadlines.write)
        let result = await withDeadline(deadline) { [client] () async -> Result<Answer, StoreError> in
            var isLast = !request.isRepeatable
            while true {
                do {
                    let response = try await client.execute(signed, deadline: head)
                    return .success(try await Self.answer(response, limit: limit))
                } catch let error as HTTPClientError where error == .remoteConnectionClosed && !isLast {
                    isLast = true
                } catch {
                    return .failure(Self.error(error, of: request.operation))
                }
            }
        }
        guard let result else { throw .timedOut(operation: request.operation) }
        return try result.get()
    }

    /// Computes something from a store's bytes on the thread for that.
    package func onThread<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable () -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await thread.runIfActive(body)
        } catch {
            throw .failed(operation: operation, reason: "it has been shut down")
        }
    }

    private func signedRequest(_ request: Request, _ digest: String) -> HTTPClientRequest {
        let signed = RequestSigner.Request(
            method: request.method, host: address.host, path: request.path, query: request.query, headers: request.headers,
            bodyDigest: digest)
        let query = signed.encodedQuery
        var sent = HTTPClientRequest(url: address.origin + request.path + (query.isEmpty ? "" : "?\(query)"))
        sent.method = HTTPMethod(rawValue: request.method)
        sent.headers.add(name: "host", value: address.host)
        for (name, value) in signer.headers(for: signed, at: clock.now) { sent.headers.add(name: name, value: value) }
        if let body = request.body { sent.body = .bytes(body) }
        return sent
    }

    private static func answer(_ response: HTTPClientResponse, limit: Int) async throws -> Answer {
        let isSuccess = response.status.code == 200
        let limit = isSuccess ? limit : 16_384
        var answer = Answer(
            status: Int(response.status.code), entityTag: response.headers.first(name: "etag"),
            region: response.headers.first(name: "x-amz-bucket-region"))
        let announced = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        // A body that is not read to its end closes its connection.
        guard announced <= limit else { return answer }
        var body = ByteBuffer()
        body.reserveCapacity(announced)
        for try await part in response.body {
            guard body.readableBytes + part.readableBytes <= limit else { return answer }
            body.writeImmutableBuffer(part)
        }
        answer.body = body
        return answer
    }

    private static func error(_ error: any Error, of operation: String) -> StoreError {
        switch error {
        case let error as HTTPClientError where timeouts.contains(error): .timedOut(operation: operation)
        case let error as HTTPClientError where error == .cancelled: .failed(operation: operation, reason: "it was cancelled")
        case let error as HTTPClientError where error == .alreadyShutdown:
            .failed(operation: operation, reason: "it has been shut down")
        case is CancellationError: .failed(operation: operation, reason: "it was cancelled")
        case let error as NIOSSLError:
            .unreachable(
                operation: operation, reason: "TLS failed: \(shown(error)); the certificate must be valid for the endpoint's host")
        default: .unreachable(operation: operation, reason: shown(error))
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
    ]

    private static func shown(_ error: any Error) -> String { "\(error)".escaped.shortened(to: 300) }
}

/// Runs `body` for at most `limit`, and cancels it then.
/// - Returns: `nil` if the time was up first.
private func withDeadline<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
) async -> Value? {
    await withTaskGroup(of: Value?.self) { group in
        group.addTask { await body() }
        group.addTask {
            _ = await sleepUnlessCancelled(for: limit)
            return nil
        }
        let first = await group.next()
        group.cancelAll()
        return first ?? nil
    }
}

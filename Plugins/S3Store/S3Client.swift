internal import AsyncHTTPClient
internal import FoundationEssentials
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
package import OnesheetCore
internal import OnesheetCrypto

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
        read = deadline
        head = deadline / 2
        write = deadline * 5
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

        package init(path: String, operation: String) {
            self.path = path
            self.operation = operation
        }
    }

    /// A whole answer.
    package struct Answer: Sendable {
        package var status: Int
        package var entityTag: String?
        /// The place of the body in the object, if only a part was asked for.
        package var contentRange: String?
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
        self.address = address
        self.signer = signer
        self.clock = clock
        self.deadlines = deadlines
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
    /// - Parameter limit: the most bytes of the body of an answer with status 200 or 206. All others are cut at 16 KiB.
    package func send(_ request: Request, limit: Int) async throws(StoreError) -> Answer {
        let body = request.body
        let digest: String
        if let body {
            digest = try await onThread(request.operation) { body.withUnsafeReadableBytes { SHA256.hash($0) }.hexadecimal }
        } else {
            digest = RequestSigner.emptyDigest
        }
        let signed = try signedRequest(request, digest)
        let now = ContinuousClock.now
        let end = now + (request.isRead ? deadlines.read : deadlines.write)
        let head = now + (request.isRead ? deadlines.head : deadlines.write)
        var isLast = !request.isRepeatable
        while true {
            do {
                return try await execute(signed, head: head, end: end, limit: limit)
            } catch let error as HTTPClientError where error == .remoteConnectionClosed && !isLast {
                isLast = true
            } catch {
                throw Self.error(error, of: request.operation)
            }
        }
    }

    /// Sends a request once.
    /// - Parameters:
    ///   - head: when the answer has to have begun.
    ///   - end: when it has to be whole.
    private func execute(
        _ request: HTTPClient.Request, head: ContinuousClock.Instant, end: ContinuousClock.Instant, limit: Int
    ) async throws -> Answer {
        let collector = AnswerCollector(limit: limit)
        let task = client.execute(
            request: request, delegate: collector, deadline: .now() + TimeAmount(end - ContinuousClock.now))
        let alarm = Alarms.shared.set(in: head - ContinuousClock.now) {
            if !collector.hasHead { task.fail(reason: HTTPClientError.deadlineExceeded) }
        }
        defer { Alarms.shared.cancel(alarm) }
        do {
            return try await withTaskCancellationHandler {
                try await task.get()
            } onCancel: {
                task.cancel()
            }
        } catch let error as AnswerCollector.TooLong {
            return error.answer
        }
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

    private func signedRequest(_ request: Request, _ digest: String) throws(StoreError) -> HTTPClient.Request {
        let signed = RequestSigner.Request(
            method: request.method, host: address.host, path: request.path, query: request.query, headers: request.headers,
            bodyDigest: digest)
        let query = signed.encodedQuery
        var headers: HTTPHeaders = ["host": address.host]
        for (name, value) in signer.headers(for: signed, at: clock.now) { headers.add(name: name, value: value) }
        do {
            return try HTTPClient.Request(
                url: address.origin + request.path + (query.isEmpty ? "" : "?\(query)"),
                method: HTTPMethod(rawValue: request.method), headers: headers, body: request.body.map { .byteBuffer($0) })
        } catch {
            throw .failed(operation: request.operation, reason: Self.shown(error))
        }
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

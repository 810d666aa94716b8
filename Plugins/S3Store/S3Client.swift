internal import FoundationEssentials
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
package import OnesheetCore
internal import OnesheetCrypto
internal import OnesheetTransport
internal import Synchronization

/// The timeouts of calls. All belong to us: a store may hang at any byte.
package struct S3Deadlines: Sendable, Equatable {
    /// For a connection, without TLS.
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
/// It uses the connections of `HTTPTransport` without its rules for origins, which are not trusted: a store is configured by the operator and
/// may be anywhere. A signature is for one host, so redirects are answers.
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
    private let connections: OriginConnections
    private let isShutDown = Atomic(false)
    /// Parses documents and computes digests.
    private let thread: NIOThreadPool

    /// The most bytes of the body of an answer with another status than 200 or 206.
    private static let faultLimit = 16_384

    package init(address: S3Address, signer: RequestSigner, clock: WallClock, deadlines: S3Deadlines) {
        self.address = address
        self.signer = signer
        self.clock = clock
        self.deadlines = deadlines
        connections = OriginConnections(lookUpWithin: deadlines.connect)
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    deinit {
        connections.shutdown()
        // It lives on until it has ended.
        thread.shutdownGracefully { _ in }
    }

    /// Ends all connections.
    package func shutdown() {
        isShutDown.store(true, ordering: .sequentiallyConsistent)
        connections.shutdown()
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
        let (url, signed) = try signedHead(of: request, digest)
        let start = NIODeadline.now()
        let end = start + TimeAmount(request.isRead ? deadlines.read : deadlines.write)
        let head = request.isRead ? start + TimeAmount(deadlines.head) : end
        var isSecond = false
        while true {
            var bounds = ExchangeBounds(silence: TimeAmount(deadlines.write))
            bounds.connect = TimeAmount(deadlines.connect)
            bounds.head = head - .now()
            bounds.rate = 0
            var order = OriginOrder(head: signed, bounds: bounds, deadline: end, limit: limit)
            order.body = body
            order.errorLimit = Self.faultLimit
            order.isRepeatable = false
            do throws(ExchangeFailure) {
                return Answer(try await connections.send(order, to: OriginHost(url), in: nil, isNew: isSecond))
            } catch {
                if case .tooLarge = error.kind, let head = error.head { return Answer(head) }
                // A refused connection is known at once, and the caller has a circuit breaker. A connection that ends is tried once more.
                guard request.isRepeatable, !isSecond, !Task.isCancelled, error.stage > .connecting, case .broken = error.kind
                else { throw self.error(error, of: request.operation) }
                isSecond = true
            }
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

    private func signedHead(of request: Request, _ digest: String) throws(StoreError) -> (WebURL, HTTPRequestHead) {
        let signed = RequestSigner.Request(
            method: request.method, host: address.host, path: request.path, query: request.query, headers: request.headers,
            bodyDigest: digest)
        let query = signed.encodedQuery
        let target = request.path + (query.isEmpty ? "" : "?\(query)")
        guard let url = WebURL(address.origin + target) else {
            throw .failed(operation: request.operation, reason: "its name is too long for a URL")
        }
        var head = HTTPRequestHead(
            url, method: HTTPMethod(rawValue: request.method), body: request.body?.readableBytes, fields: [:])
        head.uri = target
        head.headers.replaceOrAdd(name: "Host", value: address.host)
        for (name, value) in signer.headers(for: signed, at: clock.now) { head.headers.replaceOrAdd(name: name, value: value) }
        return (url, head)
    }

    private func error(_ failure: ExchangeFailure, of operation: String) -> StoreError {
        if isShutDown.load(ordering: .sequentiallyConsistent) {
            return .failed(operation: operation, reason: "it has been shut down")
        }
        if Task.isCancelled { return .failed(operation: operation, reason: "it was cancelled") }
        if case .timedOut = failure.kind { return .timedOut(operation: operation) }
        return .unreachable(operation: operation, reason: failure.detail.escaped.shortened(to: 300))
    }
}

extension S3Client.Answer {
    /// An answer whose body is too large.
    fileprivate init(_ head: HTTPResponseHead) {
        self.init(status: Int(head.status.code), headers: head.headers, body: nil)
    }

    fileprivate init(_ reply: OriginReply) {
        self.init(status: reply.status, headers: reply.headers, body: reply.body)
    }

    private init(status: Int, headers: HTTPHeaders, body: ByteBuffer?) {
        self.init(
            status: status, entityTag: headers.first(name: "etag"), contentRange: headers.first(name: "content-range"),
            region: headers.first(name: "x-amz-bucket-region"), body: body)
    }
}

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Collects a whole answer of a store on the event loop.
final class AnswerCollector: HTTPClientResponseDelegate {
    /// The body has more bytes than the limit. `answer` is without it.
    struct TooLong: Error { let answer: S3Client.Answer }

    /// The most bytes of the body of an answer with another status than 200 or 206.
    private static let faultLimit = 16_384

    private let limit: Int
    private let collected = Mutex<S3Client.Answer?>(nil)

    init(limit: Int) { self.limit = limit }

    /// Whether the answer has begun.
    var hasHead: Bool { collected.withLock { $0 != nil } }

    func didReceiveHead(task: HTTPClient.Task<S3Client.Answer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let announced = max(head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0, 0)
        let answer = S3Client.Answer(
            status: Int(head.status.code), entityTag: head.headers.first(name: "etag"),
            contentRange: head.headers.first(name: "content-range"), region: head.headers.first(name: "x-amz-bucket-region"),
            body: ByteBuffer())
        collected.withLock { $0 = answer }
        return add(announced, in: task) { $0.reserveCapacity(announced) }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<S3Client.Answer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        add(part.readableBytes, in: task) { $0.writeImmutableBuffer(part) }
    }

    func didFinishRequest(task: HTTPClient.Task<S3Client.Answer>) throws -> S3Client.Answer {
        guard let answer = collected.withLock({ $0 }) else { throw HTTPClientError.remoteConnectionClosed }
        return answer
    }

    /// Changes the body, unless `length` more bytes are too many. Such a body is not read to its end, which closes its connection.
    private func add(
        _ length: Int, in task: HTTPClient.Task<S3Client.Answer>, _ change: (inout ByteBuffer) -> Void
    ) -> EventLoopFuture<Void> {
        let refused = collected.withLock { answer -> S3Client.Answer? in
            guard var body = answer?.body else { return answer }
            // Otherwise the change would copy the body.
            answer?.body = nil
            let isWanted = answer?.status == 200 || answer?.status == 206
            guard length <= (isWanted ? limit : Self.faultLimit) - body.readableBytes else { return answer }
            change(&body)
            answer?.body = body
            return nil
        }
        if let refused { return task.eventLoop.makeFailedFuture(TooLong(answer: refused)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }
}

internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A prefetch with its progress. Each iteration sends the order once; its last element is the summary.
///
/// ```swift
/// for try await progress in server.prefetch(PrefetchOrder(source: "boxoffice")) {
///     print(progress.done, "of", progress.total)
/// }
/// ```
///
/// Leaving the loop early or cancelling disconnects; the server then stops the prefetch and keeps the finished variants. A slow loop
/// misses reports, but never the last one.
public struct PrefetchRun: AsyncSequence, Sendable {
    public typealias Element = PrefetchProgress
    public typealias Failure = ClientError

    let server: PosterServer
    let order: PrefetchOrder

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Receives the reports of one prefetch.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var reports: AsyncThrowingStream<PrefetchProgress, any Error>.Iterator
        private var hasEnded = false

        fileprivate init(_ run: PrefetchRun) {
            // A newer report replaces older ones.
            let (stream, continuation) = AsyncThrowingStream<PrefetchProgress, any Error>
                .makeStream(bufferingPolicy: .bufferingNewest(16))
            let task = Task {
                do throws(ClientError) {
                    try await run.work { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            // Also if the iterator is dropped.
            continuation.onTermination = { _ in task.cancel() }
            reports = stream.makeAsyncIterator()
        }

        public mutating func next() async throws(ClientError) -> PrefetchProgress? {
            try await next(isolation: #isolation)
        }

        /// - Throws: `ClientError`: of the request, `failed` if the server could not carry out the order, `unreachable` if the answer ended
        ///   before the prefetch.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ClientError) -> PrefetchProgress? {
            guard !hasEnded else { return nil }
            do {
                if let report = try await reports.next(isolation: actor) { return report }
            } catch {
                hasEnded = true
                throw error as? ClientError ?? .unreachable("\(error)")
            }
            hasEnded = true
            // A cancelled stream ends without an error.
            if Task.isCancelled { throw .cancelled }
            return nil
        }
    }

    /// Sends the order, and passes on the server's reports until the prefetch ends.
    private func work(_ report: @escaping @Sendable (PrefetchProgress) -> Void) async throws(ClientError) {
        let reading = Mutex(Reading(reader: EventReader(limit: server.limits.answerBytes)))
        let failure = AnswerCollector(limit: server.limits.answerBytes)
        let request = try server.request("POST", "/prefetch", accept: "text/event-stream", body: order)
        try await server.exchange(request, wait: server.limits.idleTimeout) { part throws(ClientError) in
            let isEvents = reading.withLock { reading in
                if case .head(let status, let fields) = part {
                    let head = Answer(status: status, fields: fields, bytes: [])
                    reading.isEvents = status == 200 && head.field("Content-Type")?.hasPrefix("text/event-stream") ?? false
                }
                return reading.isEvents
            }
            guard isEvents else { return try failure.add(part) }
            guard case .bytes(let bytes) = part else { return }
            for event in try reading.withLock({ reading throws(ClientError) in try reading.reader.read(bytes) }) {
                switch event.name {
                case "progress": report(try JSONDocument.decode(PrefetchProgress.self, from: event.data))
                case "done":
                    report(try JSONDocument.decode(PrefetchProgress.self, from: event.data))
                    reading.withLock { $0.isDone = true }
                case "failed": throw .failed(try JSONDocument.decode(String.self, from: event.data))
                default: break
                }
            }
        }
        let (isEvents, isDone) = reading.withLock { ($0.isEvents, $0.isDone) }
        guard isEvents else {
            _ = try failure.answer()
            throw .unreadable("it is not a stream of events")
        }
        guard isDone else { throw .unreachable("the answer ended before the prefetch did") }
    }

    private struct Reading {
        var reader: EventReader
        var isEvents = false
        var isDone = false
    }
}

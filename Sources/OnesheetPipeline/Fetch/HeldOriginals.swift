import NIOCore
import NIOPosix
import OnesheetCore
import Synchronization

/// The threads on which sources get originals that they hold themselves. Each source has its own: one whose disk hangs keeps neither
/// another source nor a render waiting.
final class HeldOriginals: Sendable {
    private struct Lane {
        let threads: NIOThreadPool
        /// At work and waiting, those included that nobody waits for any more.
        var jobs = 0
    }

    private static let threads = 2
    private let queue: Int
    private let time: Duration
    private let lanes = Mutex<[String: Lane]>([:])

    /// - Parameters:
    ///   - queue: jobs of one source at work and waiting; one more is refused.
    ///   - time: for one original, with the time that it waits.
    init(queue: Int = 256, time: Duration = SourceLimits().time) { (self.queue, self.time) = (queue, time) }

    deinit {
        // Not waited for: a thread that hangs does not end.
        lanes.withLock { lanes in for lane in lanes.values { lane.threads.shutdownGracefully { _ in } } }
    }

    /// What `make` gives.
    func bytes(
        of source: String, _ make: @escaping @Sendable () throws(SourceError) -> ByteBuffer
    ) async throws(PipelineError) -> ByteBuffer {
        guard let threads = enter(source) else { throw .overloaded(retryAfter: 1) }
        let result = await inTime(time) { () async -> Result<ByteBuffer, SourceError> in
            await withCheckedContinuation { continuation in
                threads.submit { _ in
                    defer { self.leave(source) }
                    do throws(SourceError) {
                        continuation.resume(returning: .success(try make()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        }
        if Task.isCancelled { throw .cancelled }
        guard let result else { throw .source(source, .unavailable(reason: "no original in \(time)")) }
        do throws(SourceError) { return try result.get() } catch { throw .source(source, error) }
    }

    private func enter(_ source: String) -> NIOThreadPool? {
        lanes.withLock { lanes in
            var lane = lanes[source] ?? Self.lane()
            defer { lanes[source] = lane }
            guard lane.jobs < queue else { return nil }
            lane.jobs += 1
            return lane.threads
        }
    }

    private func leave(_ source: String) { lanes.withLock { $0[source]?.jobs -= 1 } }

    private static func lane() -> Lane {
        let threads = NIOThreadPool(numberOfThreads: threads)
        threads.start()
        return Lane(threads: threads)
    }
}

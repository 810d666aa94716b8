import FoundationEssentials
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
        var turnover = Turnover()
    }

    private static let threads = 2
    private let queue: Int
    private let time: Duration
    private let clock: WallClock
    private let lanes = Mutex<[String: Lane]>([:])

    /// - Parameters:
    ///   - queue: jobs of one source at work and waiting; one more is refused.
    ///   - time: for one original, with the time that it waits.
    init(queue: Int = 256, time: Duration = SourceLimits().time, clock: WallClock = .system) {
        (self.queue, self.time, self.clock) = (queue, time, clock)
    }

    deinit {
        // Not waited for: a thread that hangs does not end.
        lanes.withLock { lanes in for lane in lanes.values { lane.threads.shutdownGracefully { _ in } } }
    }

    /// What `make` gives.
    func bytes(
        of source: String, _ make: @escaping @Sendable () throws(SourceError) -> ByteBuffer
    ) async throws(PipelineError) -> ByteBuffer {
        let threads = try enter(source)
        let result = await inTime(time) { () async -> Result<ByteBuffer, SourceError> in
            await withCheckedContinuation { continuation in
                threads.submit { _ in
                    let start = self.clock.now
                    let result: Result<ByteBuffer, SourceError>
                    do throws(SourceError) { result = .success(try make()) } catch { result = .failure(error) }
                    self.leave(source, after: self.clock.now.timeIntervalSince(start))
                    continuation.resume(returning: result)
                }
            }
        }
        if Task.isCancelled { throw .cancelled }
        guard let result else { throw .source(source, .unavailable(reason: "no original in \(time)")) }
        do throws(SourceError) { return try result.get() } catch { throw .source(source, error) }
    }

    /// Jobs of `source`, waiting ones included.
    func load(of source: String) -> Int { lanes.withLock { $0[source]?.jobs ?? 0 } }

    private func enter(_ source: String) throws(PipelineError) -> NIOThreadPool {
        try lanes.withLock { lanes throws(PipelineError) in
            var lane = lanes[source] ?? Self.lane()
            defer { lanes[source] = lane }
            guard lane.jobs < queue else {
                let waiting = max(0, lane.jobs - Self.threads)
                throw .overloaded(retryAfter: lane.turnover.retryAfter(waiting: waiting, places: Self.threads))
            }
            lane.jobs += 1
            return lane.threads
        }
    }

    private func leave(_ source: String, after seconds: Double) {
        lanes.withLock { lanes in
            lanes[source]?.jobs -= 1
            lanes[source]?.turnover.add(seconds)
        }
    }

    private static func lane() -> Lane {
        let threads = NIOThreadPool(numberOfThreads: threads)
        threads.start()
        return Lane(threads: threads)
    }
}

import FoundationEssentials
import NIOCore
import NIOPosix
import OnesheetCore
import Synchronization

/// Bytes from outside and their memory reservation.
struct CountedBytes: Sendable {
    let buffer: ByteBuffer
    let reservation: MemoryReservation
}

/// Threads on which sources read originals of their own, such as local files. Each source has its own threads, so a disk that hangs
/// delays neither other sources nor renders.
final class LocalOriginals: Sendable {
    private struct Lane {
        let threads: NIOThreadPool
        /// Running and waiting jobs, including abandoned ones.
        var jobs = 0
        var estimator = RetryAfterEstimator()
    }

    private static let threads = 2
    private let queue: Int
    private let time: Duration
    private let memory: MemoryBudget
    private let mostBytes: Int
    private let clock: WallClock
    private let lanes = Mutex<[String: Lane]>([:])

    /// - Parameters:
    ///   - queue: running and waiting jobs of one source; further ones are refused.
    ///   - time: the time limit for one original, including its wait for a thread.
    ///   - memory: the budget for the originals. The size of an original is known only once it is read, so each thread of a source
    ///     may hold one that is not counted yet.
    ///   - mostBytes: the largest original; larger ones fail, whether or not their source checks that.
    init(
        queue: Int = 256, time: Duration = SourceLimits().time, memory: MemoryBudget = MemoryBudget(limit: 512 << 20),
        mostBytes: Int = Limits().originBytes, clock: WallClock = .system
    ) {
        self.queue = queue
        self.time = time
        self.memory = memory
        self.mostBytes = mostBytes
        self.clock = clock
    }

    deinit {
        // Not awaited: a thread that hangs never ends.
        lanes.withLock { lanes in for lane in lanes.values { lane.threads.shutdownGracefully { _ in } } }
    }

    /// The result of `make`.
    func bytes(
        of source: String, _ make: @escaping @Sendable () throws(SourceError) -> ByteBuffer
    ) async throws(PipelineError) -> CountedBytes {
        let threads = try enter(source)
        let result = await withTimeoutAbandoning(time) { [memory, mostBytes] () async -> Result<CountedBytes, PipelineError> in
            await withCheckedContinuation { continuation in
                threads.submit { _ in
                    ThreadPriority.work.apply()
                    let start = self.clock.now
                    let result: Result<CountedBytes, PipelineError>
                    do throws(SourceError) {
                        let bytes = try make()
                        if bytes.readableBytes > mostBytes {
                            result = .failure(.origin(.tooLarge(url: source, limit: mostBytes)))
                        } else if let reservation = memory.reserve(bytes.readableBytes) {
                            result = .success(CountedBytes(buffer: bytes, reservation: reservation))
                        } else {
                            result = .failure(.overloaded(retryAfter: 1))
                        }
                    } catch {
                        result = .failure(.source(source, error))
                    }
                    self.leave(source, after: self.clock.now.timeIntervalSince(start))
                    continuation.resume(returning: result)
                }
            }
        }
        if Task.isCancelled { throw .cancelled }
        guard let result else { throw .source(source, .unavailable(reason: "no original in \(time)")) }
        return try result.get()
    }

    /// Jobs of `source`, including waiting ones. Only tests use it: they wait until their jobs are here.
    func load(of source: String) -> Int { lanes.withLock { $0[source]?.jobs ?? 0 } }

    private func enter(_ source: String) throws(PipelineError) -> NIOThreadPool {
        try lanes.withLock { lanes throws(PipelineError) in
            var lane = lanes[source] ?? Self.lane()
            defer { lanes[source] = lane }
            guard lane.jobs < queue else {
                let waiting = max(0, lane.jobs - Self.threads)
                throw .overloaded(retryAfter: lane.estimator.retryAfter(waiting: waiting, places: Self.threads))
            }
            lane.jobs += 1
            return lane.threads
        }
    }

    private func leave(_ source: String, after seconds: Double) {
        lanes.withLock { lanes in
            lanes[source]?.jobs -= 1
            lanes[source]?.estimator.add(seconds)
        }
    }

    private static func lane() -> Lane {
        let threads = NIOThreadPool(numberOfThreads: threads)
        threads.start()
        return Lane(threads: threads)
    }
}

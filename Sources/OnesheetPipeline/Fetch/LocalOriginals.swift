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
    private static let threads = 2
    private let slots: Slots<String>
    private let time: Duration
    private let memory: MemoryBudget
    private let mostBytes: Int
    private let pools = Mutex<[String: NIOThreadPool]>([:])

    /// - Parameters:
    ///   - queue: running and waiting jobs of one source; further ones are refused.
    ///   - time: the time limit for one original, from the time when it has a thread.
    ///   - memory: the budget for the originals. The size of an original is known only once it is read, so each thread of a source
    ///     may hold one that is not counted yet.
    ///   - mostBytes: the largest original; larger ones fail, whether or not their source checks that.
    init(
        queue: Int = 256, time: Duration = SourceLimits().time, memory: MemoryBudget = MemoryBudget(limit: 512 << 20),
        mostBytes: Int = Limits().originBytes, now: @escaping @Sendable () -> Double = SlotClock.now
    ) {
        slots = Slots(SlotRules(places: Self.threads, waiting: .everybody(queue - Self.threads)), now: now)
        self.time = time
        self.memory = memory
        self.mostBytes = mostBytes
    }

    deinit {
        // Not awaited: a thread that hangs never ends.
        pools.withLock { pools in for threads in pools.values { threads.shutdownGracefully { _ in } } }
    }

    /// The result of `make`.
    func bytes(
        of source: String, _ make: @escaping @Sendable () throws(SourceError) -> ByteBuffer
    ) async throws(Failure) -> CountedBytes {
        let place = try await enter(source)
        let threads = threads(of: source)
        let result = await withTimeoutAbandoning(time) { [memory, mostBytes] () async -> Result<CountedBytes, Failure> in
            await withCheckedContinuation { continuation in
                threads.submit { _ in
                    ThreadPriority.work.apply()
                    let result: Result<CountedBytes, Failure>
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
                    place.leave()
                    continuation.resume(returning: result)
                }
            }
        }
        if Task.isCancelled { throw .cancelled }
        guard let result else {
            place.hang()
            throw late(source)
        }
        return try result.get()
    }

    /// Jobs of `source`, including waiting ones. Only tests use it: they wait until their jobs are here.
    func load(of source: String) -> Int { slots.load(of: source) }

    private func enter(_ source: String) async throws(Failure) -> Slots<String>.Place {
        do throws(NoPlace) {
            return try await slots.enter(source, within: SlotRules.longestWait)
        } catch {
            switch error {
            case .full(let seconds): throw .overloaded(retryAfter: seconds)
            case .hung: throw late(source)
            case .cancelled: throw .cancelled
            }
        }
    }

    private func late(_ source: String) -> Failure { .source(source, .unavailable(reason: "no original in \(time)")) }

    private func threads(of source: String) -> NIOThreadPool {
        pools.withLock { pools in
            if let threads = pools[source] { return threads }
            let threads = NIOThreadPool(numberOfThreads: Self.threads)
            threads.start()
            pools[source] = threads
            return threads
        }
    }
}

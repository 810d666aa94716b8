internal import NIOPosix
internal import OnesheetCore
internal import Synchronization

/// The threads that do the file work: a fixed number of their own, because file work blocks and the cooperative pool must not.
///
/// What waits for them is bounded too: a cache that is slower than its callers is passed by, not waited for without end.
final class DiskWorkers: Sendable {
    private let pool: NIOThreadPool
    private let waiting = Atomic(0)
    private let limit: Int
    private let path: String

    init(threads: Int, limit: Int, path: String) {
        pool = NIOThreadPool(numberOfThreads: threads)
        (self.limit, self.path) = (limit, path)
        pool.start()
    }

    deinit { pool.shutdownGracefully { _ in } }

    /// Runs `body` on one of the threads. It is run to its end whatever becomes of the caller.
    func run<Answer: Sendable>(_ body: @escaping @Sendable () throws(CacheError) -> Answer) async throws(CacheError) -> Answer {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= limit else {
            throw .fileSystem(operation: "use", path: path, reason: "\(limit) operations are waiting already")
        }
        let result = await withCheckedContinuation { continuation in
            pool.submit { [path] state in
                guard case .active = state else {
                    continuation.resume(returning: Result<Answer, CacheError>.failure(Self.closed(path)))
                    return
                }
                continuation.resume(returning: Result(catching: body))
            }
        }
        return try result.get()
    }

    /// Runs `body` some time later.
    func runLater(_ body: @escaping @Sendable () -> Void) {
        pool.submit { state in
            if case .active = state { body() }
        }
    }

    /// Ends the threads, after what they are doing now.
    func close() async throws(CacheError) {
        do {
            try await pool.shutdownGracefully()
        } catch {
            throw .fileSystem(operation: "end the threads for", path: path, reason: "\(error)")
        }
    }

    private static func closed(_ path: String) -> CacheError {
        .fileSystem(operation: "use", path: path, reason: "the tier is closed")
    }
}

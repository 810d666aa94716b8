internal import NIOPosix
internal import OnesheetCore
internal import Synchronization

/// The threads for file operations: a fixed number, because file operations block and the cooperative pool must not.
///
/// The number of operations that callers wait for is bounded too: a cache that is slower than its callers is skipped.
final class DiskThreads: Sendable {
    private let pool: NIOThreadPool
    private let waiting = Atomic(0)
    let threads: Int
    /// The most operations that callers wait for.
    let limit: Int
    private let path: String

    init(threads: Int, limit: Int, path: String) {
        pool = NIOThreadPool(numberOfThreads: threads)
        self.threads = threads
        self.limit = limit
        self.path = path
        pool.start()
    }

    deinit { pool.shutdownGracefully { _ in } }

    /// Runs `body` on one of the threads. It runs to its end even if the caller is cancelled.
    func run<Answer: Sendable>(_ body: @escaping @Sendable () throws(CacheError) -> Answer) async throws(CacheError) -> Answer {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= limit else {
            throw overload
        }
        let result = await withCheckedContinuation { continuation in
            pool.submit { [path] state in
                guard case .active = state else {
                    continuation.resume(returning: Result<Answer, CacheError>.failure(Self.closed(path)))
                    return
                }
                ThreadPriority.requests.apply()
                continuation.resume(returning: Result(catching: body))
            }
        }
        return try result.get()
    }

    /// The error if more operations wait than may.
    var overload: CacheError {
        .fileSystem(operation: "use", path: path, reason: "\(limit) operations are already waiting")
    }

    /// Runs `body` later.
    func runLater(_ body: @escaping @Sendable () -> Void) {
        pool.submit { state in
            guard case .active = state else { return }
            ThreadPriority.requests.apply()
            body()
        }
    }

    /// Ends the threads after their current jobs.
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

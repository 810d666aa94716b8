import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// What stays when the configuration of a running server changes: tiers, threads, connections to origins, and what was written down.
struct Groundwork: Sendable {
    let cache: Cache
    /// The tier with files to look after.
    let disk: DiskTier
    let state: StateStore
    let transport: any HTTPTransport
    let pool: RenderPool
    let figures = PipelineFigures()
    let clock: WallClock
    let logger: Logger
    private let web: WebTransport

    /// - Throws: `CacheError` or `ConfigurationError` that says what cannot be used.
    init(_ configuration: ServerConfiguration, clock: WallClock, logger: Logger) throws {
        let limits = configuration.limits.limits
        let memory = MemoryBudget(limit: limits.memory)
        let web = WebTransport(limits: limits, memory: memory, clock: clock, logger: logger)
        let transport = try configuration.tape.transport(web, Redaction(secrets: configuration.secrets))
        // First of all: it refuses a folder that is somebody else's, before anything is written there.
        let disk = try DiskTier(configuration.cache.disk, clock: clock, logger: logger)
        state = try StateStore(folder: configuration.cache.disk.path, logger: logger)
        cache = Cache(configuration.cache.memory, disk: disk, clock: clock, logger: logger)
        pool = RenderPool(workers: limits.workers, queue: limits.queue, longestWait: limits.queueTime, memory: memory)
        (self.disk, self.transport, self.web, self.clock, self.logger) = (disk, transport, web, clock, logger)
    }

    /// Ends connections and threads.
    func shutdown() async throws {
        try await web.shutdown()
        await pool.shutdown()
        try await disk.close()
    }
}

import FoundationEssentials
package import Logging
package import OnesheetCache
package import OnesheetCluster
package import OnesheetCore
import OnesheetImaging
import OnesheetIsolation
import OnesheetPipeline
import OnesheetTransport

/// The resources that survive a reload: cache tiers, stored state, origin connections, threads, and background work.
package struct ServerResources: Sendable {
    package let cache: Cache
    /// The disk tier, which is also one of `cache`'s tiers.
    let disk: DiskTier
    let state: StateStore
    let transport: any HTTPTransport
    /// Creates plugins that need nothing of other servers.
    package let assembly: PluginAssembly
    let pool: RenderPool
    let metrics = PipelineMetrics()
    let background = BackgroundTasks()
    let prefetchJobs: PrefetchJobs
    /// Which configurations the cached answers of the sources come from.
    let digests: SourceDigests
    let configurationChanges = SourceConfigurationChanges()
    /// The files of the newest configuration, even if it was refused.
    let latestSourceFiles = LatestSourceFiles()
    /// The other servers; `nil` if this one works alone.
    package let cluster: ServerCluster?
    /// The stored choices of posters.
    let choices: PosterChoices
    /// The administrator's decisions that several servers share; `nil` if there is no store.
    let decisions: SharedDecisions?
    /// The originals that ended render processes, and how many processes were lost.
    private let fatal: FatalOriginals
    let lostProcesses = LostProcesses()
    /// Applies the purges of other servers.
    let follower: PurgeFollower?
    let clock: WallClock
    let logger: Logger
    let web: WebTransport
    private let tiers: [any TierPlugin]
    private let writes: Bool

    /// - Parameters:
    ///   - writes: whether to create and open folders. If not, they are only checked, and the disk tier is closed.
    ///   - follows: whether to apply the purges of other servers.
    ///   - isForOperator: whether only the operator reads the errors, as those of a command.
    /// - Throws: `CacheError` or `ConfigurationError`.
    package init(
        _ configuration: ServerConfiguration, _ plugins: PluginList, writes: Bool = true, follows: Bool = true,
        isForOperator: Bool = false, clock: WallClock, logger: Logger
    ) throws {
        let limits = configuration.limits.limits
        let hasProcesses = configuration.rendering.isolation == .process && RenderProgram.command != nil
        let memory = MemoryBudget(limit: limits.memory, standing: Self.standingMemory(limits, hasProcesses: hasProcesses))
        let authorities = try TrustedAuthorities(
            file: configuration.trustedAuthorities, environment: ProcessInfo.processInfo.environment)
        let web = WebTransport(
            limits: limits, memory: memory, authorities: authorities, clock: clock, isForOperator: isForOperator, logger: logger)
        let transport = try configuration.recordReplay.transport(web, Redaction(secrets: configuration.secrets), writes: writes)
        let disk: DiskTier
        if writes {
            // Open the disk tier first: it rejects a folder that belongs to something else before anything is written there.
            disk = try DiskTier(configuration.cache.disk, clock: clock, logger: logger)
            state = try StateStore(folder: configuration.cache.disk.path, clock: clock, logger: logger)
        } else {
            if let openError = try FolderExamination.requireUsable(configuration.cache.disk.path) {
                logger.warning("a server could not store anything on the disk: \(openError)")
            }
            disk = DiskTier(closedAt: configuration.cache.disk.path, clock: clock, logger: logger)
            state = try StateStore()
        }
        let state = state
        let assembly = PluginAssembly(
            plugins: plugins, transport: transport, limits: limits, clock: clock, logger: logger, state: { state.part($0) },
            memory: memory)
        self.assembly = assembly
        let made = try assembly.tiers(configuration.cache.tiers, writes: writes)
        tiers = made.map(\.tier)
        if !writes { try assembly.checkBackends(configuration.shared) }
        let cluster = writes ? try assembly.cluster(configuration.shared) : nil
        let memoryTier = MemoryTier(configuration.cache.memory, clock: clock)
        let cache = Cache(
            memory: memoryTier, disk: disk, further: made.map { BoundedTier($0.tier, named: $0.name, deadline: $0.deadline) },
            cluster: cluster, logger: logger)
        self.cluster = cluster
        self.cache = cache
        choices = PosterChoices(state)
        let choices = choices
        decisions = cluster?.shared.map {
            SharedDecisions(
                SharedValues($0, logger: logger), choices: choices, cache: cache, isToldOfChanges: cluster?.tellsOfPurges ?? false,
                logger: logger)
        }
        let decisions = decisions
        follower = cluster?.purges.map { PurgeFollower($0, cache: cache, decisions: decisions) }
        if follows { follower?.start() }
        pool = RenderPool(
            workers: limits.workers, queue: limits.queue, longestWait: limits.queueTime,
            deadline: configuration.rendering.deadline.duration, memory: memory)
        self.disk = disk
        self.transport = transport
        self.web = web
        self.clock = clock
        self.logger = logger
        self.writes = writes
        fatal = FatalOriginals(
            path: writes ? configuration.cache.disk.path + "/fatal-originals" : nil, clock: clock, logger: logger)
        prefetchJobs = PrefetchJobs(clock: clock)
        // No source can have this name, so it is not the state of a plugin.
        digests = SourceDigests(state.part("source configurations"), configurationChanges, clock: clock)
    }

    /// The memory for failures, missing answers, titles, addresses, documents and other things that are remembered beside the cache, and for what lies
    /// free between them: 20 to 30 MiB after a minute of requests for a hundred thousand different things, as measured.
    private static let rememberedMemory = 24 << 20

    /// The part of `limits.memory` that is in use whatever is asked for: at most three eighths, however many workers there are.
    private static func standingMemory(_ limits: Limits, hasProcesses: Bool) -> Int {
        min(rememberedMemory, limits.memory / 8) + (hasProcesses ? min(IsolatedRenderer.ownMemory(limits), limits.memory / 4) : 0)
    }

    /// Reads and makes pictures as `renderer` does, where `configuration` says.
    func engine(
        _ renderer: Renderer, configuration: RenderingConfiguration, limits: Limits
    ) -> any PictureEngine {
        guard configuration.isolation == .process else { return renderer }
        guard let command = RenderProgram.command else {
            logger.notice("images are read in the server's own process: render processes need Linux and Onesheet.main")
            return renderer
        }
        return IsolatedRenderer(
            command, renderer: renderer, settings: ProcessSettings(of: renderer, limits: limits, codecs: configuration.codecs),
            fatal: fatal, lost: lostProcesses, logger: logger)
    }

    /// Closes connections and ends threads, beside `endSources`. Threads that have not ended by `limit` are abandoned: a thread that
    /// hangs in a codec or in disk I/O cannot be stopped and ends with the process.
    package func shutdown(within limit: Duration, and endSources: @escaping @Sendable () async -> Void = {}) async throws {
        async let ending = end("sources", within: limit / 2, endSources)
        async let refreshing = end("background refreshes", within: limit / 2) { await background.shutdown() }
        async let fetching = end("connections to origins", within: limit / 2) { try await web.shutdown() }
        async let rendering = end("render threads", within: limit / 2) { await pool.shutdown() }
        async let deciding = end("shared decisions", within: limit / 2) { await decisions?.shutdown() }
        async let following = end("the log of purges", within: limit / 2) { await follower?.shutdown() }
        async let releasing = end("leases", within: limit / 2) { await cluster?.leases?.shutdown() }
        // Close the tiers last, so that finished work can still be stored.
        var failures = await [ending, refreshing, fetching, rendering, deciding, following, releasing]
        failures.append(await end("promotions", within: limit / 4) { await cache.finishStoring() })
        failures.append(await end("the shared store", within: limit * 3 / 4) { await cluster?.shutdown() })
        failures.append(await end("plugin tiers", within: limit / 2) { for tier in tiers { await tier.shutdown() } })
        if writes { failures.append(await end("the disk tier", within: limit / 2) { try await disk.close() }) }
        if let failure = failures.lazy.compactMap({ $0 }).first { throw failure }
    }

    private func end(
        _ what: String, within limit: Duration, _ work: @escaping @Sendable () async throws -> Void
    ) async -> (any Error)? {
        let result = await withTimeoutIgnoringCancellation(limit) { () async -> Result<Void, any Error> in
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        switch result {
        case nil:
            logger.warning("abandoned at shutdown: \(what)")
            return nil
        case .success: return nil
        case .failure(let error): return error
        }
    }
}

extension MemoryTier {
    /// Creates the configured memory tier.
    fileprivate convenience init(_ configuration: CacheConfiguration.Memory, clock: WallClock) {
        self.init(
            bytes: configuration.bytes.bytes, entries: configuration.entries.value,
            expires: .seconds(configuration.expires.seconds), extending: configuration.extends.extending, clock: clock)
    }
}

extension DiskTier {
    /// Opens the configured disk tier.
    package convenience init(_ configuration: CacheConfiguration.Disk, clock: WallClock, logger: Logger) throws(CacheError) {
        try self.init(
            path: configuration.path, budgets: DiskBudgets(bytes: configuration.bytes.bytes),
            entries: configuration.entries?.value ?? .max,
            expires: .seconds(configuration.expires.seconds), extending: configuration.extends.extending,
            minimumFreeSpace: configuration.free.map { .bytes($0.bytes) } ?? .usual,
            clock: clock, logger: logger)
    }
}

package import Logging
import OnesheetHTTP
import NIOCore
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
import OnesheetTransport

/// Finds originals: in the cache while they are fresh, otherwise at their origin, which their source knows.
package struct Originals: Sendable {
    let catalog: Catalog
    let cache: Cache
    let clock: WallClock
    let lifetime: CacheExpiration
    let outlines: PictureOutlines
    private let fetch: OriginFetch
    private let pool: RenderPool
    private let logger: Logger
    let failures: FailureMemory
    private let flights: Coalescing<FlightKey<ImageReference>, Original, Failure>
    private let selection: CandidateSelection
    private let changes: SourceConfigurationChanges

    /// - Parameters:
    ///   - choices: the stored choices of posters.
    ///   - catalog: the sources.
    ///   - changes: when the configurations of sources changed.
    ///   - lifetime: the longest lifetime of an original.
    ///   - mostBytes: the largest original that does not come over HTTP. `transport` knows the same limit.
    package init(
        catalog: Catalog, transport: any HTTPTransport, cache: Cache, engine: any PictureEngine, pool: RenderPool,
        choices: PosterChoices, changes: SourceConfigurationChanges = SourceConfigurationChanges(),
        clock: WallClock = .system, lifetime: CacheExpiration = .days(7),
        mostBytes: Int = Limits().originBytes, logger: Logger
    ) {
        self.catalog = catalog
        self.changes = changes
        self.cache = cache
        self.clock = clock
        self.lifetime = lifetime
        self.logger = logger
        self.pool = pool
        failures = FailureMemory(clock: clock)
        outlines = PictureOutlines(engine: engine, pool: pool, memory: cache.memory)
        fetch = OriginFetch(
            transport: transport, engine: engine, pool: pool, outlines: outlines,
            local: LocalOriginals(memory: pool.memory, mostBytes: mostBytes),
            clock: clock, lifetime: lifetime)
        flights = Coalescing(
            cancelled: .cancelled, full: .overloaded(retryAfter: 1),
            find: { [memory = cache.memory] flight in
                guard let entry = memory.entryStoredSince(for: ImageRequest.originalKey(flight.key)),
                    entry.state(at: clock.now) == .fresh, let source = catalog.sources[flight.key.title.source],
                    OriginGuard.allows(entry.provenance, source.originPolicy(of: entry.provenance.source))
                else { return nil }
                return Original(entry: entry, reservation: nil)
            })
        selection = CandidateSelection(fetch: fetch, catalog: catalog, choices: choices, logger: logger)
    }

    /// The original of `image`, from a tier or from its origin, once for all concurrent callers.
    /// - Parameters:
    ///   - source: the source of its title.
    ///   - generation: the generation in which the work began.
    func original(
        of image: ImageReference, from source: any ContentSource, at generation: CacheGeneration
    ) async throws(Failure) -> Original {
        let stored = try await stored(image, from: source)
        if let stored, stored.entry.state(at: clock.now) == .fresh { return stored }
        do throws(Failure) {
            try failures.check(ImageRequest.originalKey(image), at: generation)
        } catch {
            // The answer is the same as at the failure that is remembered.
            return try standIn(stored, for: image, after: error)
        }
        return try await flights.share(FlightKey(image, at: generation)) { () async throws(Failure) -> Original in
            // A stale original is only revalidated, and holds memory, so it must not wait for other servers.
            let turn = stored == nil ? try await turn(at: image) : nil
            var outcome = ClusterTurn.Outcome.failed
            defer { turn?.end(outcome) }
            if turn?.mayBeDone ?? false, let other = try await self.stored(image, from: source),
                other.entry.state(at: clock.now) == .fresh
            {
                outcome = .foundElsewhere
                return other
            }
            let original = try await fetched(stored, of: image, from: source, at: generation)
            outcome = .done
            return original
        }
    }

    /// This server's turn to fetch the original; `nil` if it need not wait for others.
    private func turn(at image: ImageReference) async throws(Failure) -> ClusterTurn? {
        do throws(CancellationError) { return try await cache.cluster?.turn(at: ImageRequest.originalKey(image)) } catch {
            throw .cancelled
        }
    }

    /// The original from its origin, and stored.
    private func fetched(
        _ stored: Original?, of image: ImageReference, from source: any ContentSource, at generation: CacheGeneration
    ) async throws(Failure) -> Original {
        let original = try await renewed(stored, of: image, from: source, at: generation)
        guard original.isStorable else { return original }
        // The variants of the old bytes must be removed before the new original can be found.
        if let stored, stored.entry.validator != original.entry.validator { await forget(image) }
        await cache.store(original.entry, for: ImageRequest.originalKey(image), ifGeneration: generation)
        return original
    }

    /// The original that `request` shows: the chosen one, or one of the candidates. A blocked picture is never returned. A
    /// candidate that cannot be fetched has no picture, because it could not become the poster either.
    func original(
        for request: ImageRequest, from source: any ContentSource, at generation: CacheGeneration
    ) async throws(Failure) -> Original {
        guard let candidate = request.candidate else {
            return try await original(of: request.image, from: source, at: generation)
        }
        return try await selection.original(of: candidate, for: request.image, from: source)
    }

    /// An original from the cache. Bytes from a disk occupy memory; bytes in the memory tier are counted there. If the
    /// source no longer allows the URL that an original came from, it counts as absent.
    private func stored(_ image: ImageReference, from source: any ContentSource) async throws(Failure) -> Original? {
        let found = try await CountedHit(ImageRequest.originalKey(image), in: cache, counting: pool.memory, pool: pool)
        guard let found, case let provenance = found.hit.entry.provenance,
            OriginGuard.allows(provenance, source.originPolicy(of: provenance.source))
        else { return nil }
        return Original(entry: found.hit.entry, reservation: found.reservation)
    }

    /// The origin's current picture. If it cannot be fetched, a stale original serves as long as its freshness allows.
    private func renewed(
        _ stored: Original?, of image: ImageReference, from source: any ContentSource, at generation: CacheGeneration
    ) async throws(Failure) -> Original {
        var kept = stored
        do throws(Failure) {
            // The source may name another picture since its configuration has changed.
            if let stored, let url = stored.entry.provenance.location,
                !changes.hasChanged(image.title.source, since: stored.entry.created, at: clock.now)
            {
                do throws(Failure) {
                    let policy = source.originPolicy(of: stored.entry.provenance.source)
                    let renewed = try await fetch.revalidate(stored, from: url, for: image, policy: policy)
                    if let admitted = try await selection.admitted(renewed) { return admitted.foundAs(stored) }
                    kept = nil
                } catch let error where error.traits.contains(.isRefusal) {
                    // Another candidate may exist. What its owner has removed stands in for nothing, as what is blocked.
                    if error.traits.contains(.isRemoval) {
                        await forget(image)
                        kept = nil
                    }
                }
            }
            return try await selected(for: image, from: source, at: generation)
        } catch {
            return try standIn(kept, for: image, after: error)
        }
    }

    /// The stale original, if its freshness allows that after `error`.
    /// - Throws: `error` otherwise.
    private func standIn(
        _ stored: Original?, for image: ImageReference, after error: Failure
    ) throws(Failure) -> Original {
        guard let stored, error.traits.contains(.allowsStale), stored.entry.state(at: clock.now) != .stale else { throw error }
        logger.notice("a stale original is used", metadata: ["title": "\(shown(image.title))", "reason": "\(error)"])
        return stored.standingIn()
    }

    /// The perceptual hash of the original.
    func hash(of original: Original) async throws(Failure) -> PerceptualHash { try await selection.hash(of: original) }

    /// Whether the administrator has pinned the image.
    func isPinned(_ image: ImageReference) async -> Bool { await selection.isPinned(image) }

    /// The hash of the original whose entry, or its head, is `entry`, if nothing needs to be computed for it.
    func knownHash(of entry: CacheEntry) -> PerceptualHash? { selection.knownHash(of: entry) }

    /// Pixels of the original after orientation.
    func size(of original: Original) async throws(Failure) -> (width: Int, height: Int) {
        try await fetch.size(of: original)
    }

    /// The picture of the best candidate that can be fetched.
    private func selected(
        for image: ImageReference, from source: any ContentSource, at generation: CacheGeneration
    ) async throws(Failure) -> Original {
        do throws(Failure) {
            return try await selection.original(of: image, from: source)
        } catch {
            failures.remember(error, of: ImageRequest.originalKey(image), at: generation)
            throw error
        }
    }

    /// Drops the unusable original of `request`. The next request after `error` is forgotten asks its origin again. The originals of
    /// candidates are not stored.
    func drop(_ request: ImageRequest, _ error: Failure, at generation: CacheGeneration) async {
        guard request.candidate == nil else { return }
        let (image, key) = (request.image, ImageRequest.originalKey(request.image))
        failures.remember(error, of: key, at: generation)
        do {
            try await cache.remove(key)
        } catch {
            logger.error(
                "a damaged original may remain in the cache", metadata: ["title": "\(shown(image.title))", "reason": "\(error)"])
        }
    }

    /// The remembered failure of the image of `request` or of its original, which every request gets until the next attempt.
    func failure(of request: ImageRequest, at generation: CacheGeneration) -> Failure? {
        failures.remembered(request.key, at: generation)
            ?? failures.remembered(ImageRequest.originalKey(request.image), at: generation)
    }

    private func forget(_ image: ImageReference) async {
        do {
            try await cache.remove(.tag(image.ownTag))
        } catch {
            // A tier that cannot remove an entry cannot be trusted with it. Its own counters show the failure too.
            logger.error(
                "variants of a changed original may remain in the cache",
                metadata: ["title": "\(shown(image.title))", "reason": "\(error)"])
        }
    }
}

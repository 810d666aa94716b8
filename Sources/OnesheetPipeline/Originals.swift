package import Logging
import OnesheetHTTP
import NIOCore
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
import OnesheetTransport

/// Finds originals: in the cache while they are fresh, otherwise at their origin, which their source knows.
package final class Originals: Sendable {
    let catalog: Catalog
    let cache: Cache
    let clock: WallClock
    let lifetime: CacheExpiration
    let outlines: PictureOutlines
    private let fetch: OriginFetch
    private let fetched: FetchedOriginals
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
        fetched = FetchedOriginals(cache: cache, pool: pool, clock: clock)
        fetch = OriginFetch(
            transport: transport, engine: engine, pool: pool, outlines: outlines,
            local: LocalOriginals(memory: pool.memory, mostBytes: mostBytes), known: fetched,
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

    /// The original of `image`: the stored one while it is fresh, otherwise that of its origin, once for all concurrent callers. If that cannot
    /// be fetched, a stale original serves as long as its freshness allows.
    /// - Parameters:
    ///   - source: the source of its title.
    ///   - generation: the generation in which the work began.
    func original(
        of image: ImageReference, from source: any ContentSource, at generation: CacheGeneration
    ) async throws(Failure) -> Original {
        let key = ImageRequest.originalKey(image)
        let stored = try await stored(key, from: source)
        if let stored, isFresh(stored) { return stored }
        // The answer is the same as at the failure that is remembered.
        if let failure = failures.remembered(key, at: generation) { return try standIn(stored, for: image, after: failure) }
        return try await flights.share(FlightKey(image, at: generation)) { [self] () async throws(Failure) -> Original in
            // A stale original is only revalidated, and holds memory, so it must not wait for other servers.
            let turn = stored == nil ? try await turn(at: key) : nil
            var outcome = ClusterTurn.Outcome.failed
            defer { turn?.end(outcome) }
            if turn?.mayBeDone ?? false, let other = try await self.stored(key, from: source), isFresh(other) {
                outcome = .foundElsewhere
                return other
            }
            var kept = stored
            let original: Original
            do throws(Failure) {
                if let renewed = try await renewed(&kept, of: image, from: source) {
                    original = renewed
                } else {
                    original = try await failures.noting(key, at: generation) { () async throws(Failure) in
                        try await selection.original(of: image, from: source)
                    }
                }
            } catch {
                return try standIn(kept, for: image, after: error)
            }
            outcome = .done
            guard original.isStorable else {
                // What must not be stored has taken the place of what is.
                if stored != nil { await forget(image) }
                return original
            }
            // The variants of the old bytes must be removed before the new original can be found.
            if let stored, stored.entry.validator != original.entry.validator { await forget(image) }
            await cache.store(original.entry, for: key, ifGeneration: generation)
            fetched.note(original, of: image, at: generation)
            return original
        }
    }

    private func isFresh(_ original: Original) -> Bool { original.entry.state(at: clock.now) == .fresh }

    /// This server's turn to fetch the original; `nil` if it need not wait for others.
    private func turn(at key: CacheKey) async throws(Failure) -> ClusterTurn? {
        do throws(CancellationError) { return try await cache.cluster?.turn(at: key) } catch {
            throw .cancelled
        }
    }

    /// An original from the cache. Bytes from a disk occupy memory; bytes in the memory tier are counted there. If the
    /// source no longer allows the URL that an original came from, it counts as absent.
    private func stored(_ key: CacheKey, from source: any ContentSource) async throws(Failure) -> Original? {
        let found = try await CountedHit(key, in: cache, counting: pool.memory, pool: pool)
        guard let found, case let provenance = found.hit.entry.provenance,
            OriginGuard.allows(provenance, source.originPolicy(of: provenance.source))
        else { return nil }
        return Original(entry: found.hit.entry, reservation: found.reservation)
    }

    /// What the origin of `stored` has instead of it, or the same confirmed; `nil` if its source must name a candidate again.
    /// - Parameter stored: becomes `nil` if it may not stand in: it is blocked, or its owner has removed it.
    private func renewed(
        _ stored: inout Original?, of image: ImageReference, from source: any ContentSource
    ) async throws(Failure) -> Original? {
        // The source may name another picture since its configuration has changed.
        guard let original = stored, let url = original.entry.provenance.location,
            !changes.hasChanged(image.title.source, since: original.entry.created, at: clock.now)
        else { return nil }
        do throws(Failure) {
            let policy = source.originPolicy(of: original.entry.provenance.source)
            let renewed = try await fetch.revalidate(original, from: url, for: image, policy: policy)
            if let admitted = try await selection.admitted(renewed) { return admitted.foundAs(original) }
            stored = nil
        } catch let error where error.traits.contains(.isRefusal) {
            // Another candidate may exist. What its owner has removed stands in for nothing, as what is blocked.
            if error.traits.contains(.isRemoval) {
                await forget(image)
                stored = nil
            }
        }
        return nil
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

    /// What was chosen and decided about the image.
    func choice(of image: ImageReference) async -> PosterChoice { await selection.choice(of: image) }

    /// The hash of the original whose entry, or its head, is `entry`, if nothing needs to be computed for it.
    func knownHash(of entry: CacheEntry) -> PerceptualHash? { selection.knownHash(of: entry) }

    /// Pixels of the original after orientation.
    func size(of original: Original) async throws(Failure) -> (width: Int, height: Int) {
        try await fetch.size(of: original)
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
            ?? (request.candidate == nil ? failures.remembered(ImageRequest.originalKey(request.image), at: generation) : nil)
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

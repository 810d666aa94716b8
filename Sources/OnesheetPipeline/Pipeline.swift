import FoundationEssentials
import Logging
package import NIOCore
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
import OnesheetTransport
import Tracing

/// Turns requests into images: cache, source, origin, render, cache.
///
/// Read `images(for:from:after:)` first: every image comes from it. A miss continues in `fill` and `fetchAndRender`, which asks
/// `Originals` for the original and `Variants` for what is made of it.
/// A class, as the large parts of it are: a value that contains it copies a reference instead of some sixty fields.
package final class Pipeline: Sendable {
    package let cache: Cache
    package let engine: any PictureEngine
    package let pool: RenderPool
    package let metrics: PipelineMetrics
    /// Work without a waiter.
    package let background: BackgroundTasks
    let originals: Originals
    private let variants: Variants
    private let facts: PosterFactsStorage
    let clock: WallClock
    private let flights: Fill.Coalescer

    package init(
        cache: Cache, engine: any PictureEngine, pool: RenderPool, originals: Originals,
        metrics: PipelineMetrics = PipelineMetrics(),
        background: BackgroundTasks = BackgroundTasks(), clock: WallClock = .system
    ) {
        self.cache = cache
        self.engine = engine
        self.pool = pool
        self.originals = originals
        self.metrics = metrics
        self.background = background
        self.clock = clock
        facts = PosterFactsStorage(in: cache, lifetime: originals.lifetime, clock: clock)
        variants = Variants(engine: engine, pool: pool, originals: originals, facts: facts, metrics: metrics, clock: clock)
        flights = Coalescing(
            cancelled: .cancelled, full: .overloaded(retryAfter: 1),
            find: { [memory = cache.memory] flight in
                guard let entry = memory.entryStoredSince(for: flight.key) else { return nil }
                return ImageAnswer(freshHit: CacheHit(inMemory: entry), at: clock.now)
            })
    }

    /// The image for `request`.
    /// - Parameters:
    ///   - source: the source of its title, if the caller has found it.
    ///   - begun: the outcome of an earlier lookup.
    package func image(
        for request: ImageRequest, from source: (any ContentSource)? = nil, after begun: CacheLookUp? = nil
    ) async throws(Failure) -> ImageAnswer {
        try await images(for: [request], from: source, after: begun)[0]
    }

    /// The images for `requests`, which show one picture, in order: fresh ones from a tier, the others made from the original. HTTP,
    /// prefetches and commands have no other way to a new image.
    ///
    /// Concurrent calls share one flight for each variant, and one decode serves all variants of a call.
    /// - Parameters:
    ///   - source: the source of their title, if the caller has found it. No other step of the work looks it up.
    ///   - begun: the outcome of an earlier lookup. It serves the request with its key; `.absent` serves all.
    /// - Throws: `Failure.unknownSource` if the configuration has no such source. Cached images of removed sources are not served.
    package func images(
        for requests: [ImageRequest], from source: (any ContentSource)? = nil, after begun: CacheLookUp? = nil
    ) async throws(Failure) -> [ImageAnswer] {
        guard let title = requests.first?.title else { return [] }
        let source = try originals.catalog.source(title.source, found: source)
        var answers: [ImageAnswer?] = []
        var misses: [Fill.Miss] = []
        for request in requests {
            let (answer, stale) = try await lookUp(request, from: source, after: begun)
            answers.append(answer)
            if answer == nil { misses.append(Fill.Miss(request: request, stale: stale)) }
        }
        if !misses.isEmpty {
            try WorkContext.current.countMiss()
            var filled = try await fill(misses, from: source).makeIterator()
            for index in answers.indices where answers[index] == nil { answers[index] = filled.next() }
        }
        return answers.compactMap(\.self)
    }

    /// The image for `request` that a tier has, if it may be served without a question to its origin.
    /// - Parameter begun: as of `images(for:from:after:)`.
    /// - Throws: `.overloaded` if there is no memory for it.
    package func storedImage(for request: ImageRequest, after begun: CacheLookUp? = nil) async throws(Failure) -> ImageAnswer? {
        var watch = Stopwatch(metrics)
        let found = try await CountedHit(request.key, in: cache, after: begun, counting: pool.reading, pool: pool)
        guard let found, [.fresh, .staleWhileRevalidate].contains(found.hit.entry.state(at: clock.now)) else { return nil }
        return ImageAnswer(found.hit, timings: watch.lap("cache"), reservation: found.reservation)
    }

    /// A large image without its bytes, in a tier that can read parts of it.
    package struct LargeHead: Sendable {
        fileprivate let key: CacheKey
        fileprivate let head: CacheHead
        /// Without its body.
        package let answer: ImageAnswer
    }

    /// The head of the image for `request`, if it is large and not in memory and may be served as it is; `nil` if it must be read or made as
    /// usual.
    /// - Parameter source: the source that a stale image is refreshed from; `nil` if nothing may be asked for it.
    package func largeHead(of request: ImageRequest, from source: (any ContentSource)?) async -> LargeHead? {
        var watch = Stopwatch(metrics)
        guard let head = await cache.largeHead(of: request.key) else { return nil }
        let origin: AnswerOrigin
        switch await use(of: head.entry, for: request) {
        case .serve: origin = .tier(head.tier)
        case .refresh:
            origin = .tier(head.tier)
            if let source { refresh(request, from: source) }
        case .standIn:
            let provenance = head.entry.provenance
            guard let source, OriginGuard.allows(provenance, source.originPolicy(of: provenance.source)) else { return nil }
            origin = .staleOnError
        case .fill: return nil
        }
        let answer = ImageAnswer(entry: head.entry, size: head.size, origin: origin, timings: watch.lap("cache"))
        return LargeHead(key: request.key, head: head, answer: answer)
    }

    /// What to do with an entry.
    private enum Use {
        case serve
        /// Serve it, and ask its origin in the background.
        case refresh
        /// Ask its origin, which would fail as a moment ago: the entry stands in.
        case standIn
        /// Ask its origin.
        case fill
    }

    /// What to do with `entry`, as its freshness allows after a failure that is still remembered.
    private func use(of entry: CacheEntry, for request: ImageRequest) async -> Use {
        let state = entry.state(at: clock.now)
        if state == .fresh { return .serve }
        let failure = originals.failure(of: request, at: await cache.generation())
        switch state {
        case .fresh: return .serve
        case .staleWhileRevalidate:
            guard let failure else { return .refresh }
            return failure.endsStaleness ? .fill : .serve
        case .staleIfError: return failure?.traits.contains(.allowsStale) ?? false ? .standIn : .fill
        case .stale: return .fill
        }
    }

    /// Parts of the image with this head, and the memory for them; `nil` if it is gone.
    /// - Throws: `.overloaded` if there is no memory for them.
    package func parts(
        _ ranges: [Range<Int>], of head: LargeHead
    ) async throws(Failure) -> (bytes: [ByteBuffer], reservation: MemoryReservation?)? {
        let reading = ReadingMemory(of: pool.reading)
        let parts = await cache.parts(ranges, of: head.key, head.head, into: reading)
        if reading.isRefused { throw .overloaded(retryAfter: pool.retryAfter) }
        return parts.map { ($0, reading.reservation) }
    }

    /// `title` with the own id of its source; see `Catalog.own`.
    package func own(_ title: TitleReference, from source: (any ContentSource)?) async throws(Failure) -> TitleReference {
        try await originals.catalog.own(title, from: source)
    }

    /// The same as far as it is known. Asks nothing.
    package func knownOwn(_ title: TitleReference) async -> TitleReference { await originals.catalog.knownOwn(title) }

    /// The error for a title whose source the configuration does not have.
    package func unknownSource(of title: TitleReference) -> Failure { originals.catalog.unknownSource(title.source) }

    /// Whether to ask for `title` although it may not exist: asking its source costs nothing, or the source lists it.
    package func mayHave(_ title: TitleReference, from source: any ContentSource) -> Bool {
        originals.catalog.mayHave(title, from: source)
    }

    /// - Returns: the answer of a tier, otherwise the stale entry to start from, if there is one.
    /// - Throws: `.overloaded` if there is no memory for the entry.
    private func lookUp(
        _ request: ImageRequest, from source: any ContentSource, after begun: CacheLookUp?
    ) async throws(Failure) -> (answer: ImageAnswer?, stale: CacheEntry?) {
        var watch = Stopwatch(metrics)
        let looked = try await withSpan(named: "cache") { span async throws(Failure) in
            let found = try await CountedHit(request.key, in: cache, after: begun, counting: pool.reading, pool: pool)
            span?.attributes["onesheet.cache.tier"] = found?.hit.tier ?? "none"
            return found
        }
        guard let found = looked else { return (nil, nil) }
        let hit = found.hit
        let answer = ImageAnswer(hit, timings: watch.lap("cache"), reservation: found.reservation)
        switch await use(of: hit.entry, for: request) {
        case .serve: return (answer, nil)
        case .refresh:
            refresh(request, stale: hit.entry, from: source)
            return (answer, nil)
        case .standIn, .fill: return (nil, hit.entry)
        }
    }

    /// Fills a miss in the background while the stale variant is served. If too many tasks are running, the next hit tries again. A failure
    /// that is none of RFC 5861 §4 ends the time in which the variant is served meanwhile.
    /// - Parameter stale: the variant; `nil` if it is to be read.
    private func refresh(_ request: ImageRequest, stale: CacheEntry? = nil, from source: any ContentSource) {
        background.start(.refresh(request.key)) { [self] in
            do throws(Failure) {
                let found = stale == nil ? try await CountedHit(request.key, in: cache, counting: pool.reading, pool: pool) : nil
                defer { withExtendedLifetime(found) {} }
                let stale = stale ?? found?.hit.entry
                let generation = await cache.generation()
                do throws(Failure) {
                    _ = try await fill([Fill.Miss(request: request, stale: stale)], from: source)
                } catch {
                    if error.endsStaleness, let ended = stale?.servedNoMoreWhileRevalidated {
                        await cache.store(ended, for: request.key, ifGeneration: generation)
                    }
                    throw error
                }
            } catch {
                cache.logger.debug(
                    "a stale image is not refreshed: \(error)", metadata: ["key": "\(shown(naming: request.key.description))"])
            }
        }
    }

    /// Fills the cache with variants of the original that `misses` show, once for all who miss them, or confirms that the stale variants
    /// still match it.
    private func fill(
        _ misses: [Fill.Miss], from source: any ContentSource
    ) async throws(Failure) -> [ImageAnswer] {
        let generation = await cache.generation()
        let keys = misses.map { FlightKey($0.request.key, at: generation) }
        let byKey = Dictionary(zip(keys, misses)) { first, _ in first }
        return try await flights.share(keys) { [self] flights async throws(Failure) -> [Fill.Key: ImageAnswer] in
            let fill = Fill(
                misses: flights.keys.compactMap { byKey[$0] }, source: source, generation: generation, flights: flights)
            var record = FillRecord(of: fill, began: clock.now, metrics: metrics)
            do throws(Failure) {
                return try await fetchAndRender(fill, recording: &record)
            } catch {
                record.note(failure: error)
                throw error
            }
        }
    }

    /// Fetches the original that `fill` shows, renders its variants, and stores them.
    private func fetchAndRender(
        _ fill: Fill, recording record: inout FillRecord
    ) async throws(Failure) -> [Fill.Key: ImageAnswer] {
        // Refuse before the fetch. A stale variant may prove current, and an identity transform needs no worker.
        if fill.misses.contains(where: { $0.stale == nil && !$0.request.transform.changesNoPixel }) { try pool.checkRoom() }
        let start = clock.now
        let original = try await withSpan(named: "origin") { _ async throws(Failure) in
            try await originals.original(for: fill.misses[0].request, from: fill.source, at: fill.generation)
        }
        // An original of the same moment counts as asked for in the record, and as known when its facts are stored: that is safe.
        record.askedOrigin = original.entry.validated >= start
        let isNew = original.entry.validated > start
        _ = record.watch.lap("origin")
        let variants = try await withSpan(named: "render") { _ async throws(Failure) in
            try await self.variants.variants(for: fill, of: original, isNew: isNew)
        }
        _ = record.watch.lap("render")
        // The stored entry stays unchanged if it stands in for an unreachable origin.
        await withSpan(named: "store") { _ in
            for variant in variants where original.isStorable && variant.origin != .staleOnError {
                await cache.store(variant.entry, for: variant.request.key, ifGeneration: fill.generation)
            }
        }
        if !original.isStorable { metrics.add(\.notKept, variants.count) }
        let timings = record.watch.lap("store")
        var answers: [Fill.Key: ImageAnswer] = [:]
        for variant in variants {
            let answer = ImageAnswer(
                entry: variant.entry, origin: variant.origin, timings: timings, isStorable: original.isStorable,
                reservation: variant.reservation)
            record.note(answer, to: variant.request)
            answers[FlightKey(variant.request.key, at: fill.generation)] = answer
        }
        return answers
    }

    /// The known facts about an image of a title. Fetches nothing.
    package func facts(of image: ImageReference, from source: (any ContentSource)? = nil) async -> PosterFacts? {
        await facts.facts(of: image, from: source ?? originals.catalog.sources[image.title.source])
    }

    /// The version of the facts about posters of `source`, which a document that shows them keeps.
    package func factsVersion(of source: String) async -> PosterFactsVersion { await facts.version(of: source) }

    /// Pixels of an image's original after orientation. Fetches the original if they are unknown.
    /// - Parameter source: the source of the title, if the caller has found it.
    package func size(
        of image: ImageReference, from source: (any ContentSource)? = nil
    ) async throws(Failure) -> (width: Int, height: Int) {
        let source = try originals.catalog.source(image.title.source, found: source)
        if let facts = await facts(of: image, from: source) { return (facts.width, facts.height) }
        try WorkContext.current.countMiss()
        let original = try await originals.original(of: image, from: source, at: await cache.generation())
        return try await originals.size(of: original)
    }
}

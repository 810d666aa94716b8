import FoundationEssentials
import OnesheetHTTP
import Logging
import NIOCore
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
import OnesheetTracing
import Tracing

/// Turns requests into images: cache, source, origin, render, cache.
///
/// Read `images(for:from:after:)` first: every image comes from it. Each stage that it names is a type in a file beside this one.
package struct Pipeline: Sendable {
    package let cache: Cache
    package let engine: any PictureEngine
    package let pool: RenderPool
    package let metrics: PipelineMetrics
    /// Work without a waiter.
    package let background: BackgroundTasks
    let originals: Originals
    let clock: WallClock
    private let facts: TypedStorage<JSONCached<PosterFacts>>
    private let flights = Coalescing<FlightKey<CacheKey>, ImageAnswer, PipelineError>(
        cancelled: .cancelled, full: .overloaded(retryAfter: 1))

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
        facts = TypedStorage("poster", in: cache, clock: clock, areSmall: true)
    }

    /// The image for `request`.
    /// - Parameters:
    ///   - source: the source of its title, if the caller has found it.
    ///   - begun: the outcome of an earlier lookup.
    package func image(
        for request: ImageRequest, from source: (any ContentSource)? = nil, after begun: CacheLookUp? = nil
    ) async throws(PipelineError) -> ImageAnswer {
        try await images(for: [request], from: source, after: begun)[0]
    }

    /// The images for `requests`, which show one picture, in order: fresh ones from a tier, the others made from the original. HTTP,
    /// prefetches and commands have no other way to a new image.
    ///
    /// Concurrent calls share one flight for each variant, and one decode serves all variants of a call.
    /// - Parameters:
    ///   - source: the source of their title, if the caller has found it. No other step of the work looks it up.
    ///   - begun: the outcome of an earlier lookup. It serves the request with its key; `.absent` serves all.
    /// - Throws: `PipelineError.unknownSource` if the configuration has no such source. Cached images of removed sources are not served.
    package func images(
        for requests: [ImageRequest], from source: (any ContentSource)? = nil, after begun: CacheLookUp? = nil
    ) async throws(PipelineError) -> [ImageAnswer] {
        guard let title = requests.first?.title else { return [] }
        let source = try originals.catalog.source(title.source, found: source)
        var answers: [ImageAnswer?] = []
        var misses: [Miss] = []
        for request in requests {
            let (answer, stale) = try await lookUp(request, from: source, after: begun)
            answers.append(answer)
            if answer == nil { misses.append(Miss(request: request, stale: stale)) }
        }
        if !misses.isEmpty {
            try MissPermit.use()
            var filled = try await fill(misses, from: source).makeIterator()
            for index in answers.indices where answers[index] == nil { answers[index] = filled.next() }
        }
        return answers.compactMap(\.self)
    }

    /// The error for a title whose source the configuration does not have.
    package func unknownSource(of title: TitleReference) -> PipelineError { originals.catalog.unknownSource(title.source) }

    /// Whether to ask for `title` although it may not exist: asking its source costs nothing, or the source lists it.
    package func mayHave(_ title: TitleReference, from source: any ContentSource) -> Bool {
        originals.catalog.mayHave(title, from: source)
    }

    /// A request whose variant no tier has fresh.
    private struct Miss: Sendable {
        let request: ImageRequest
        let stale: CacheEntry?
    }

    /// - Returns: the answer of a tier, otherwise the stale entry to start from, if there is one.
    /// - Throws: `.overloaded` if there is no memory for the entry.
    private func lookUp(
        _ request: ImageRequest, from source: any ContentSource, after begun: CacheLookUp?
    ) async throws(PipelineError) -> (answer: ImageAnswer?, stale: CacheEntry?) {
        var watch = Stopwatch(metrics)
        let looked = try await withSpan(named: "cache") { span async throws(PipelineError) in
            let found = try await CountedHit(request.key, in: cache, after: begun, counting: pool.reading, pool: pool)
            span?.attributes["onesheet.cache.tier"] = found?.hit.tier ?? "none"
            return found
        }
        guard let found = looked else { return (nil, nil) }
        let hit = found.hit
        let answer = ImageAnswer(hit, timings: watch.lap("cache"), reservation: found.reservation)
        switch hit.entry.state(at: clock.now) {
        case .fresh: return (answer, nil)
        case .staleWhileRevalidate:
            refresh(Miss(request: request, stale: hit.entry), from: source)
            return (answer, nil)
        case .staleIfError, .stale: return (nil, hit.entry)
        }
    }

    /// Fills a miss in the background while the stale variant is served. If too many tasks are running, the next hit tries again.
    private func refresh(_ miss: Miss, from source: any ContentSource) {
        let request = miss.request
        background.start(.refresh(request.key)) {
            do throws(PipelineError) {
                _ = try await fill([miss], from: source)
            } catch {
                cache.logger.debug(
                    "a stale image is not refreshed: \(error)", metadata: ["key": "\(shown(naming: request.key.description))"])
            }
        }
    }

    /// Fills the cache with variants of the original that `misses` show, once for all who miss them, or confirms that the stale variants
    /// still match it.
    private func fill(
        _ misses: [Miss], from source: any ContentSource
    ) async throws(PipelineError) -> [ImageAnswer] {
        let generation = await cache.generation()
        let keys = misses.map { FlightKey($0.request.key, at: generation) }
        let byKey = Dictionary(zip(keys, misses)) { first, _ in first }
        return try await flights.share(keys) { flights async throws(PipelineError) -> [FlightKey<CacheKey>: ImageAnswer] in
            var answers = stored(flights.keys.compactMap { byKey[$0]?.request }, at: generation)
            let left = flights.keys.filter { answers[$0] == nil }.compactMap { byKey[$0] }
            guard !left.isEmpty else { return answers }
            var record = FillRecord(of: left, began: clock.now, metrics: metrics)
            do throws(PipelineError) {
                let filled = try await fetchAndRender(
                    left, showing: misses[0].request, from: source, for: flights, at: generation, recording: &record)
                for (request, answer) in filled { answers[FlightKey(request.key, at: generation)] = answer }
                return answers
            } catch {
                record.note(failure: error)
                throw error
            }
        }
    }

    /// Records how misses are filled: the durations of the stages, and the outcome of each.
    private struct FillRecord {
        var watch: Stopwatch
        var askedOrigin: Bool?
        private let misses: [Miss]
        private let began: Date
        private let metrics: PipelineMetrics

        init(of misses: [Miss], began: Date, metrics: PipelineMetrics) {
            self.misses = misses
            self.began = began
            self.metrics = metrics
            watch = Stopwatch(metrics)
        }

        func note(_ answer: ImageAnswer, to request: ImageRequest) {
            note(request, origin: answer.origin, failure: nil, isStorable: answer.isStorable)
        }

        func note(failure: PipelineError) {
            if case .cancelled = failure { return }
            for miss in misses {
                note(miss.request, origin: nil, failure: failure.withoutDetails.description, isStorable: true)
            }
        }

        private func note(_ request: ImageRequest, origin: AnswerOrigin?, failure: String?, isStorable: Bool) {
            let wasStale = misses.first { $0.request.key == request.key }?.stale != nil
            metrics.makings.note(
                RecentMakings.Making(
                    began: began, wasStale: wasStale, askedOrigin: askedOrigin, stages: watch.laps, origin: origin,
                    failure: failure, isStorable: isStorable),
                of: request.key)
        }
    }

    /// Fetches the original that `request` shows, renders the variants of `misses`, and stores them.
    private func fetchAndRender(
        _ misses: [Miss], showing request: ImageRequest, from source: any ContentSource, for flights: Flights,
        at generation: CacheGeneration, recording record: inout FillRecord
    ) async throws(PipelineError) -> [(request: ImageRequest, answer: ImageAnswer)] {
        // Refuse before the fetch. A stale variant may prove current, and an identity transform needs no worker.
        if misses.contains(where: { $0.stale == nil && !$0.request.transform.changesNoPixel }) { try pool.checkRoom() }
        let start = clock.now
        let original = try await withSpan(named: "origin") { _ async throws(PipelineError) in
            try await originals.original(for: request, from: source, at: generation)
        }
        record.askedOrigin = original.entry.validated >= start
        let isNew = original.entry.validated > start
        _ = record.watch.lap("origin")
        let variants = try await withSpan(named: "render") { _ async throws(PipelineError) in
            try await self.variants(misses, of: original, from: source, isNew: isNew, for: flights, at: generation)
        }
        _ = record.watch.lap("render")
        // The stored entry stays unchanged if it stands in for an unreachable origin.
        await withSpan(named: "store") { _ in
            for variant in variants where original.isStorable && variant.origin != .staleOnError {
                await cache.store(variant.entry, for: variant.request.key, ifGeneration: generation)
            }
        }
        let timings = record.watch.lap("store")
        return variants.map { variant in
            let answer = ImageAnswer(
                entry: variant.entry, origin: variant.origin, timings: timings, isStorable: original.isStorable,
                reservation: variant.reservation)
            record.note(answer, to: variant.request)
            return (variant.request, answer)
        }
    }

    /// The variants that an earlier flight stored after their lookup had missed.
    private func stored(_ requests: [ImageRequest], at generation: CacheGeneration) -> [FlightKey<CacheKey>: ImageAnswer] {
        var answers: [FlightKey<CacheKey>: ImageAnswer] = [:]
        for request in requests {
            guard let entry = cache.memory.entryStoredSince(for: request.key) else { continue }
            let hit = CacheHit(inMemory: entry)
            answers[FlightKey(request.key, at: generation)] = ImageAnswer(freshHit: hit, at: clock.now)
        }
        return answers
    }

    /// A variant, its provenance, and its memory until it is stored and sent.
    private struct Variant: Sendable {
        let request: ImageRequest
        let entry: CacheEntry
        let origin: AnswerOrigin
        let reservation: MemoryReservation?

        func renewed(by original: Original) -> Variant {
            Variant(request: request, entry: entry.renewed(by: original), origin: origin, reservation: reservation)
        }
    }

    private typealias Flights = Coalescing<FlightKey<CacheKey>, ImageAnswer, PipelineError>.Flights

    /// The variants of `original`. A stale variant of the same bytes is renewed, an identity transform gets the bytes unchanged,
    /// and the others are rendered. Omits variants that another flight renders.
    /// - Parameter isNew: whether the original has just come from its origin.
    private func variants(
        _ misses: [Miss], of original: Original, from source: any ContentSource, isNew: Bool, for flights: Flights,
        at generation: CacheGeneration
    ) async throws(PipelineError) -> [Variant] {
        var variants: [Variant] = []
        var requests: [ImageRequest] = []
        for miss in misses {
            let request = miss.request
            if let stale = miss.stale, original.isOriginal(of: stale) {
                let origin: AnswerOrigin = original.standsIn ? .staleOnError : .revalidated
                variants.append(Variant(request: request, entry: stale.renewed(by: original), origin: origin, reservation: nil))
            } else if request.transform.isIdentity(for: original.entry.mediaType) {
                let entry = original.entry.renewed(by: original)
                variants.append(Variant(request: request, entry: entry, origin: .made, reservation: nil))
            } else {
                requests.append(request)
            }
        }
        guard let request = requests.first else { return variants }
        let rendered: [Variant]
        do throws(PipelineError) {
            rendered = try await render(requests, of: original, for: flights, at: generation)
        } catch {
            if error.isOriginals { await originals.drop(request, error, at: generation) }
            throw error
        }
        metrics.add(\.renders, rendered.count)
        if request.candidate == nil, let whole = rendered.first(where: { $0.request.transform.showsWhole }) {
            await note(whole.entry, of: original, from: source, isNew: isNew, title: request.title, at: generation)
        }
        return variants + rendered
    }

    /// Renders on a worker thread, with one decode for all `requests` that no other flight has begun.
    private func render(
        _ requests: [ImageRequest], of original: Original, for flights: Flights, at generation: CacheGeneration
    ) async throws(PipelineError) -> [Variant] {
        let (engine, memory, clock, lifetime) = (engine, pool.memory, clock, originals.lifetime)
        let file = PictureFile(original.entry)
        // The job may outlive this call, so it captures the bytes and not the original with its reservation.
        let rendered = try await originals.outlines.run(
            on: file,
            predicting: { outline throws(RenderError) in try engine.cost(of: outline, as: requests.map(\.transform)) }
        ) { cost throws(PipelineError) -> [Variant] in
            let claimed = flights.begin()
            let requests = requests.filter { claimed.contains(FlightKey($0.key, at: generation)) }
            guard !requests.isEmpty else { return [] }
            let start = ContinuousClock.now
            let images: [RenderedImage]
            do throws(RenderError) {
                images = try engine.render(file, as: requests.map(\.transform), predicted: cost)
            } catch {
                throw .render(error)
            }
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1) / Double(images.count)
            return zip(requests, images).map { request, image in
                // The hash of the validator is computed here too.
                let entry = CacheEntry(image, of: request.title, created: clock, lives: lifetime, cost: milliseconds)
                // Counted before the memory of the pixels is released. The bytes already exist and cannot be refused.
                let reservation = memory.charge(entry.body.readableBytes)
                return Variant(request: request, entry: entry, origin: .made, reservation: reservation)
            }
        }
        return rendered.map { $0.renewed(by: original) }
    }

    /// The known facts about a title's poster. Fetches nothing.
    package func facts(of title: TitleReference, from source: (any ContentSource)? = nil) async -> PosterFacts? {
        let source = source ?? originals.catalog.sources[title.source]
        return await facts.value(forKey: title.description, isShared: Self.sharesFacts(from: source))?.value
    }

    /// Whether the facts about a title's poster are for all servers: a list may show the title anywhere. The facts about a picture that
    /// is in no list stay where it is shown.
    private static func sharesFacts(from source: (any ContentSource)?) -> Bool {
        guard let capabilities = source?.capabilities else { return true }
        return capabilities.hasLists || capabilities.searches
    }

    /// Pixels of a title's original after orientation. Fetches the original if they are unknown.
    /// - Parameter source: the source of the title, if the caller has found it.
    package func size(
        of title: TitleReference, from source: (any ContentSource)? = nil
    ) async throws(PipelineError) -> (width: Int, height: Int) {
        let source = try originals.catalog.source(title.source, found: source)
        if let facts = await facts(of: title, from: source) { return (facts.width, facts.height) }
        try MissPermit.use()
        let original = try await originals.original(of: title, from: source, at: await cache.generation())
        return try await originals.size(of: original)
    }

    /// Stores the facts about the poster that `variant` shows, unless they are known. Those of a new original are not, so no tier is
    /// asked for them while a client waits.
    private func note(
        _ variant: CacheEntry, of original: Original, from source: any ContentSource, isNew: Bool, title: TitleReference,
        at generation: CacheGeneration
    ) async {
        guard original.isStorable, let new = PosterFacts(variant, of: original.entry) else { return }
        if !isNew, await facts(of: title, from: source)?.original == new.original { return }
        do {
            try await facts.store(
                JSONCached(new), forKey: title.description, expiration: originals.lifetime,
                tags: [.source(title.source), .title(title)], ifGeneration: generation,
                isShared: Self.sharesFacts(from: source))
        } catch {
            cache.logger.warning("a poster's facts cannot be stored: \(error)", metadata: ["title": "\(shown(title))"])
        }
    }
}

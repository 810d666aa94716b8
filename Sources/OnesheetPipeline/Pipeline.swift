import OnesheetHTTP
import Logging
import NIOCore
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging

/// Turns requests into images: cache, source, origin, render, cache.
///
/// `image(for:)` is the one function to read; every stage that it names is a type of its own beside this file.
package struct Pipeline: Sendable {
    package let cache: Cache
    package let renderer: Renderer
    package let pool: RenderPool
    package let figures: PipelineFigures
    /// What nobody waits for.
    package let background: BackgroundTasks
    let originals: Originals
    let clock: WallClock
    private let facts: TypedStorage<JSONCached<PosterFacts>>
    private let flights = Coalescing<Begun<CacheKey>, ImageAnswer, PipelineError>(
        cancelled: .cancelled, full: .overloaded(retryAfter: 1))

    package init(
        cache: Cache, renderer: Renderer, pool: RenderPool, originals: Originals, figures: PipelineFigures = PipelineFigures(),
        background: BackgroundTasks = BackgroundTasks(), clock: WallClock = .system
    ) {
        self.cache = cache
        self.renderer = renderer
        self.pool = pool
        self.originals = originals
        self.figures = figures
        self.background = background
        self.clock = clock
        facts = TypedStorage("poster", in: cache, clock: clock)
    }

    /// The image that `request` asks for: from a tier that has it fresh, or made of its original, once for all who ask at the same time.
    package func image(for request: ImageRequest) async throws(PipelineError) -> ImageAnswer {
        try check(request)
        var watch = Stopwatch(figures)
        let hit = await cache.entry(for: request.key)
        if let hit {
            let answer = ImageAnswer(hit, timings: watch.lap("cache"))
            switch hit.entry.state(at: clock.now) {
            case .fresh: return answer
            case .staleWhileRevalidate:
                refresh(request, hit.entry)
                return answer
            case .staleIfError, .stale: break
            }
        }
        try MissPermit.take()
        return try await make(request, from: hit?.entry)
    }

    /// Checks that the request's source is there: what the cache has of one that is not any more is not served.
    package func check(_ request: ImageRequest) throws(PipelineError) { _ = try originals.source(of: request.title) }

    /// Makes the variant anew while the stale one serves: once for all who ask meanwhile. Where much is being made anew already, the
    /// next hit begins it.
    private func refresh(_ request: ImageRequest, _ stale: CacheEntry) {
        background.start(.refresh(request.key)) {
            do throws(PipelineError) {
                try await make(request, from: stale)
            } catch {
                cache.logger.debug("a stale image stays: \(error)", metadata: ["key": "\(request.key)"])
            }
        }
    }

    /// Makes the variant of its original, or finds that the stale one is still what its original gives.
    @discardableResult
    private func make(_ request: ImageRequest, from stale: CacheEntry?) async throws(PipelineError) -> ImageAnswer {
        let mark = await cache.generation()
        return try await flights.share(Begun(request.key, at: mark)) { () async throws(PipelineError) -> ImageAnswer in
            var watch = Stopwatch(figures)
            // Before anything is fetched for it. What may be there already, or needs no worker, goes on.
            if stale == nil, !request.transform.changesNoPixel { try pool.checkRoom() }
            let original = try await originals.original(of: request.title, at: mark)
            _ = watch.lap("origin")
            let isUnchanged = stale.map(original.made) ?? false
            let variants =
                if isUnchanged, let stale { Variants(entries: [stale.renewed(by: original)], hold: nil) } else {
                    try await variants(of: original, request.title, [request.transform], at: mark)
                }
            let variant = variants.entries[0]
            _ = watch.lap("render")
            let origin: AnswerOrigin = !isUnchanged ? .made : original.standsIn ? .staleOnError : .revalidated
            // What stands in is stored as it is.
            if original.isStorable, origin != .staleOnError { await cache.store(variant, for: request.key, ifGeneration: mark) }
            return ImageAnswer(
                entry: variant, origin: origin, timings: watch.lap("store"), isStorable: original.isStorable, hold: variants.hold)
        }
    }

    /// Removes what `selection` takes from every tier, with all that is being made of it, and looks again for what was missing; with
    /// `dryRun` only counts.
    package func purge(_ selection: CacheSelection, dryRun: Bool = false) async throws(CacheError) -> CacheRemoval {
        dryRun ? try await cache.remove(selection, dryRun: true) : try await cache.purge(selection)
    }

    /// Makes several variants of one title before anyone asks, its original decoded once for all of them.
    package func images(of title: TitleReference, _ transforms: [Transform]) async throws(PipelineError) -> [CacheEntry] {
        let mark = await cache.generation()
        let original = try await originals.original(of: title, at: mark)
        let variants = try await variants(of: original, title, transforms, at: mark)
        // Counted until it is stored.
        defer { withExtendedLifetime(variants.hold) {} }
        guard original.isStorable else { return variants.entries }
        for (variant, transform) in zip(variants.entries, transforms) {
            await cache.store(variant, for: ImageRequest(title, transform).key, ifGeneration: mark)
        }
        return variants.entries
    }

    /// What was made, and the memory that it occupies until it is stored and sent.
    private struct Variants: Sendable {
        var entries: [CacheEntry]
        let hold: MemoryHold?
    }

    /// Renders on a worker thread; a transform that asks for the very original gets its bytes as they are.
    private func variants(
        of original: Original, _ title: TitleReference, _ transforms: [Transform], at mark: CacheGeneration
    ) async throws(PipelineError) -> Variants {
        let source = original.entry
        let rendered = transforms.filter { !$0.isIdentity(for: source.mediaType) }
        guard !rendered.isEmpty else { return Variants(entries: transforms.map { _ in source.renewed(by: original) }, hold: nil) }
        var made: Variants
        do throws(PipelineError) {
            made = try await render(source.body, rendered, of: title)
        } catch {
            if error.isOriginals { await originals.drop(title, error, at: mark) }
            throw error
        }
        figures.add(\.renders, rendered.count)
        if let index = rendered.firstIndex(where: \.showsWhole) { await note(made.entries[index], of: original, title, at: mark) }
        var next = made.entries.makeIterator()
        made.entries = transforms.map { transform in
            let entry = transform.isIdentity(for: source.mediaType) ? source : next.next() ?? source
            return entry.renewed(by: original)
        }
        return made
    }

    private func render(
        _ body: ByteBuffer, _ transforms: [Transform], of title: TitleReference
    ) async throws(PipelineError) -> Variants {
        let (renderer, memory, clock, lifetime) = (renderer, pool.memory, clock, originals.lifetime)
        let cost = try await pool.examine { () throws(PipelineError) in
            do throws(RenderError) { return try renderer.cost(body, as: transforms) } catch { throw .render(error) }
        }
        return try await pool.run(cost: cost) { () throws(PipelineError) in
            let start = ContinuousClock.now
            let images: [RenderedImage]
            do throws(RenderError) { images = try renderer.render(body, as: transforms) } catch { throw .render(error) }
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1) / Double(images.count)
            // The validators' hashes are taken here, too.
            let entries = images.map { CacheEntry($0, of: title, created: clock, lives: lifetime, cost: milliseconds) }
            // Counted before the pixels are given back; what is there already cannot be refused any more.
            return Variants(entries: entries, hold: memory.hold(entries.reduce(0) { $0 + $1.body.readableBytes }))
        }
    }

    /// What is known of a title's poster without fetching it.
    package func facts(of title: TitleReference) async -> PosterFacts? { await facts.value(forKey: title.description)?.value }

    /// Pixels of a title's original as it is shown; fetched where they are not known.
    package func size(of title: TitleReference) async throws(PipelineError) -> (width: Int, height: Int) {
        if let facts = await facts(of: title) { return (facts.width, facts.height) }
        try MissPermit.take()
        return try await originals.size(of: try await originals.original(of: title, at: await cache.generation()))
    }

    /// Keeps what `variant` says of the poster, unless it is known.
    private func note(_ variant: CacheEntry, of original: Original, _ title: TitleReference, at mark: CacheGeneration) async {
        guard original.isStorable, let new = PosterFacts(variant, of: original.entry),
            await facts(of: title)?.original != new.original
        else { return }
        do {
            try await facts.store(
                JSONCached(new), forKey: title.description, expiration: originals.lifetime,
                tags: [.source(title.source), .title(title)], ifGeneration: mark)
        } catch {
            cache.logger.warning("a poster's facts cannot be kept: \(error)", metadata: ["title": "\(title)"])
        }
    }
}

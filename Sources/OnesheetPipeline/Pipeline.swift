import Logging
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
    let originals: Originals
    let clock: WallClock
    private let facts: TypedStorage<JSONCached<PosterFacts>>
    private let flights = Coalescing<Begun<CacheKey>, ImageAnswer, PipelineError>(cancelled: .cancelled)

    package init(
        cache: Cache, renderer: Renderer, pool: RenderPool, originals: Originals, figures: PipelineFigures = PipelineFigures(),
        clock: WallClock = .system
    ) {
        self.cache = cache
        self.renderer = renderer
        self.pool = pool
        self.originals = originals
        self.figures = figures
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
                Task { try await make(request, from: hit.entry) }
                return answer
            case .staleIfError, .stale: break
            }
        }
        return try await make(request, from: hit?.entry)
    }

    /// Checks that the request's source is there: what the cache has of one that is not any more is not served.
    package func check(_ request: ImageRequest) throws(PipelineError) { _ = try originals.source(of: request.title) }

    /// Makes the variant of its original, or finds that the stale one is still what its original gives.
    @discardableResult
    private func make(_ request: ImageRequest, from stale: CacheEntry?) async throws(PipelineError) -> ImageAnswer {
        let mark = await cache.purges.mark()
        return try await flights.share(Begun(request.key, at: mark)) { () async throws(PipelineError) -> ImageAnswer in
            var watch = Stopwatch(figures)
            // Before anything is fetched for it. What may be there already, or needs no worker, goes on.
            if stale == nil, !request.transform.changesNoPixel { try pool.checkRoom() }
            let original = try await originals.original(of: request.title, at: mark)
            _ = watch.lap("origin")
            let isUnchanged = stale.map(original.made) ?? false
            let variant =
                if isUnchanged, let stale { stale.renewed(by: original) } else {
                    try await variants(of: original, request.title, [request.transform], at: mark)[0]
                }
            _ = watch.lap("render")
            let origin: AnswerOrigin = !isUnchanged ? .made : original.standsIn ? .staleOnError : .revalidated
            // What stands in is stored as it is.
            if original.isStorable, origin != .staleOnError { await cache.store(variant, for: request.key, begunAt: mark) }
            return ImageAnswer(entry: variant, origin: origin, timings: watch.lap("store"), isStorable: original.isStorable)
        }
    }

    /// Removes what `selection` takes from every tier, with all that is being made of it, and looks again for what was missing; with
    /// `dryRun` only counts.
    package func purge(_ selection: CacheSelection, dryRun: Bool = false) async throws(CacheError) -> CacheRemoval {
        dryRun ? try await cache.remove(selection, dryRun: true) : try await cache.purge(selection)
    }

    /// Makes several variants of one title before anyone asks, its original decoded once for all of them.
    package func images(of title: TitleReference, _ transforms: [Transform]) async throws(PipelineError) -> [CacheEntry] {
        let mark = await cache.purges.mark()
        let original = try await originals.original(of: title, at: mark)
        let variants = try await variants(of: original, title, transforms, at: mark)
        guard original.isStorable else { return variants }
        for (variant, transform) in zip(variants, transforms) {
            await cache.store(variant, for: ImageRequest(title, transform).key, begunAt: mark)
        }
        return variants
    }

    /// Renders on a worker thread; a transform that asks for the very original gets its bytes as they are.
    private func variants(
        of original: Original, _ title: TitleReference, _ transforms: [Transform], at mark: PurgeMark
    ) async throws(PipelineError) -> [CacheEntry] {
        let source = original.entry
        let rendered = transforms.filter { !$0.isIdentity(for: source.mediaType) }
        var made: ArraySlice<CacheEntry> = []
        if !rendered.isEmpty {
            let start = ContinuousClock.now
            let cost: RenderCost
            do throws(RenderError) { cost = try renderer.cost(source.body, as: rendered) } catch { throw .render(error) }
            let images: [RenderedImage]
            do throws(PipelineError) {
                images = try await pool.run(cost: cost) { () throws(PipelineError) -> [RenderedImage] in
                    do throws(RenderError) { return try renderer.render(source.body, as: rendered) } catch { throw .render(error) }
                }
            } catch {
                if error.isOriginals { await originals.drop(title, error, at: mark) }
                throw error
            }
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1) / Double(images.count)
            figures.add(\.renders, images.count)
            made = images.map { CacheEntry($0, of: title, created: clock, lives: originals.lifetime, cost: milliseconds) }[...]
            if let index = rendered.firstIndex(where: \.showsWhole) { await note(made[index], of: original, title, at: mark) }
        }
        return transforms.map { ($0.isIdentity(for: source.mediaType) ? source : made.removeFirst()).renewed(by: original) }
    }

    /// What is known of a title's poster without fetching it.
    package func facts(of title: TitleReference) async -> PosterFacts? { await facts.value(forKey: title.description)?.value }

    /// Pixels of a title's original as it is shown; fetched where they are not known.
    package func size(of title: TitleReference) async throws(PipelineError) -> (width: Int, height: Int) {
        if let facts = await facts(of: title) { return (facts.width, facts.height) }
        let original = try await originals.original(of: title, at: await cache.purges.mark())
        let header: ImageHeader
        do throws(RenderError) { header = try renderer.header(of: original.entry.body) } catch { throw .render(error) }
        return header.orientation.swapsSides ? (header.height, header.width) : (header.width, header.height)
    }

    /// Keeps what `variant` says of the poster, unless it is known.
    private func note(_ variant: CacheEntry, of original: Original, _ title: TitleReference, at mark: PurgeMark) async {
        guard original.isStorable, let new = PosterFacts(variant, of: original.entry),
            await facts(of: title)?.original != new.original, await cache.purges.mark() == mark
        else { return }
        do {
            try await facts.store(
                JSONCached(new), forKey: title.description, expiration: originals.lifetime,
                tags: [.source(title.source), .title(title)])
        } catch {
            cache.logger.warning("a poster's facts cannot be kept: \(error)", metadata: ["title": "\(title)"])
        }
    }
}

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
    package let figures = PipelineFigures()
    let originals: Originals
    let clock: WallClock
    private let flights = Coalescing<CacheKey, ImageAnswer, PipelineError>(cancelled: .cancelled)

    package init(cache: Cache, renderer: Renderer, pool: RenderPool, originals: Originals, clock: WallClock = .system) {
        self.cache = cache
        self.renderer = renderer
        self.pool = pool
        self.originals = originals
        self.clock = clock
    }

    /// The image that `request` asks for: from a tier that has it, or made of its original, once for all who ask at the same time.
    package func image(for request: ImageRequest) async throws(PipelineError) -> ImageAnswer {
        var watch = Stopwatch()
        if let hit = await cache.entry(for: request.key) {
            return ImageAnswer(entry: hit.entry, origin: .tier(hit.tier), timings: watch.lap("cache"))
        }
        return try await flights.share(request.key) { () async throws(PipelineError) -> ImageAnswer in
            var watch = Stopwatch()
            let original = try await originals.original(of: request.title)
            _ = watch.lap("origin")
            let variant = try await variants(of: original, request.title, [request.transform])[0]
            _ = watch.lap("render")
            await cache.store(variant, for: request.key)
            return ImageAnswer(entry: variant, origin: .made, timings: watch.lap("store"))
        }
    }

    /// Makes several variants of one title, its original decoded once for all of them.
    package func images(of title: TitleReference, _ transforms: [Transform]) async throws(PipelineError) -> [CacheEntry] {
        let variants = try await variants(of: try await originals.original(of: title), title, transforms)
        for (variant, transform) in zip(variants, transforms) {
            await cache.store(variant, for: ImageRequest(title, transform).key)
        }
        return variants
    }

    /// Renders on a worker thread; a transform that asks for the very original gets its bytes as they are.
    private func variants(
        of original: CacheEntry, _ title: TitleReference, _ transforms: [Transform]
    ) async throws(PipelineError) -> [CacheEntry] {
        let rendered = transforms.filter { !$0.isIdentity(for: original.mediaType) }
        guard !rendered.isEmpty else { return transforms.map { _ in original } }
        let start = ContinuousClock.now
        let images = try await pool.run { () throws(PipelineError) -> [RenderedImage] in
            do throws(RenderError) { return try renderer.render(original.body, as: rendered) } catch { throw .render(error) }
        }
        figures.add(\.renders, images.count)
        let cost = (ContinuousClock.now - start) / .milliseconds(1) / Double(images.count)
        var made = images.map { CacheEntry($0, of: title, created: clock, lives: originals.lifetime, cost: cost) }[...]
        return transforms.map { $0.isIdentity(for: original.mediaType) ? original : made.removeFirst() }
    }
}

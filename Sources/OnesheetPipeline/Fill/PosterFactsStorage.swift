import Logging
import OnesheetCache
import OnesheetCore

/// The facts about posters in the cache.
struct PosterFactsStorage: Sendable {
    private let storage: TypedStorage<JSONCached<PosterFacts>>
    private let lifetime: CacheExpiration
    private let logger: Logger

    init(in cache: Cache, lifetime: CacheExpiration, clock: WallClock) {
        self.lifetime = lifetime
        logger = cache.logger
        storage = TypedStorage(
            "poster", in: cache, clock: clock, areSmall: true, keeping: 256 << 10, reading: { .forSmallEntries })
    }

    /// The known facts about the image of a title of `source`.
    func facts(of image: ImageReference, from source: (any ContentSource)?) async -> PosterFacts? {
        await storage.value(forKey: image.description, isShared: Self.isShared(from: source))?.value
    }

    /// Stores the facts about the poster that `variant` shows, unless they are known.
    /// - Parameter isNew: whether they are hardly known, so that no tier is asked for them while a client waits.
    func note(_ variant: CacheEntry, of original: Original, isNew: Bool, for fill: Fill) async {
        guard original.isStorable, let new = PosterFacts(variant, of: original.entry) else { return }
        let image = fill.misses[0].request.image
        if !isNew, await facts(of: image, from: fill.source)?.original == new.original { return }
        do {
            try await storage.store(
                JSONCached(new), forKey: image.description, expiration: lifetime,
                tags: image.tags, ifGeneration: fill.generation,
                isShared: Self.isShared(from: fill.source))
        } catch {
            logger.warning("a poster's facts cannot be stored: \(error)", metadata: ["title": "\(shown(image.title))"])
        }
    }

    /// Whether all servers share the facts about a title's poster, because a list on any of them may show the title. Each server keeps the
    /// facts about a picture outside of lists for itself.
    private static func isShared(from source: (any ContentSource)?) -> Bool {
        guard let capabilities = source?.capabilities else { return true }
        return capabilities.hasLists || capabilities.searches
    }
}

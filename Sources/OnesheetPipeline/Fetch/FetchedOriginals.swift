import OnesheetCache
import OnesheetCore
import OnesheetTransport
import Synchronization

/// The images for which originals were fetched lately, by URL. A title has several ids, and its poster is a file with a name of its own: all
/// these are images of their own, and their original is fetched once, unless they are asked for at the same time.
final class FetchedOriginals: Sendable {
    private struct Place: Hashable {
        let source: ExactText
        let url: ExactText
    }

    private let cache: Cache
    private let pool: RenderPool
    private let clock: WallClock
    private let images = Mutex(
        SegmentedCache<Place, (image: ImageReference, generation: CacheGeneration)>(count: 4096, weight: 1 << 20))

    init(cache: Cache, pool: RenderPool, clock: WallClock) {
        self.cache = cache
        self.pool = pool
        self.clock = clock
    }

    /// Records that `original` was stored for `image`.
    /// - Parameter generation: that of the cache when its work began.
    func note(_ original: Original, of image: ImageReference, at generation: CacheGeneration) {
        // The title of a member has its own rules.
        guard original.entry.provenance.source == nil, !original.entry.isDrawing, let url = original.entry.provenance.location
        else { return }
        let place = Place(source: ExactText(image.title.source), url: ExactText(url))
        let weight = url.utf8.count + image.title.id.utf8.count
        images.withLock { $0.set((image, generation), for: place, weight: weight) }
    }

    /// The fresh original that another image of the same source has from `url`, as the original of `image`; `nil` if there is none, and after
    /// any purge, which is a wish for new bytes.
    func original(at url: String, for image: ImageReference, policy: OriginPolicy) async throws(Failure) -> Original? {
        let place = Place(source: ExactText(image.title.source), url: ExactText(url))
        guard let (other, generation) = images.withLock({ $0.value(for: place) }), other != image,
            await cache.generation() == generation,
            let found = try await CountedHit(ImageRequest.originalKey(other), in: cache, counting: pool.memory, pool: pool),
            case let entry = found.hit.entry, entry.state(at: clock.now) == .fresh,
            entry.provenance.location?.isExactly(url) ?? false, OriginGuard.allows(entry.provenance, policy)
        else { return nil }
        return Original(entry: entry, reservation: found.reservation).changed { entry in
            entry.tags = image.tags
            // A blocked picture is looked for, and tagged, for each image.
            entry.presentation.perceptualHash = nil
            (entry.provenance.page, entry.provenance.site) = (nil, nil)
        }
    }
}

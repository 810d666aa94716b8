package import FoundationEssentials
package import OnesheetCore
import Synchronization

/// Records how variants were last made, or why making them failed. It answers “why was this image slow?” when the image is already cached.
///
/// In memory only, bounded by the number of variants and the bytes of their names.
package final class RecentMakings: Sendable {
    /// One making of a variant.
    package struct Making: Sendable {
        /// The time at which it began.
        package let began: Date
        /// Whether a tier had a stale variant.
        package let wasStale: Bool
        /// Whether the origin was asked for the original; `nil` if the making failed before.
        package let askedOrigin: Bool?
        /// The durations of the stages, in order.
        package let stages: [StageTiming]
        /// The provenance of the image; `nil` if the making failed.
        package let origin: AnswerOrigin?
        /// The reason for the failure, in words for a client; `nil` if there is an image.
        package let failure: String?
        /// Whether the origin allows caches to store the image.
        package let isStorable: Bool
    }

    private let makings = Mutex(SegmentedCache<CacheKey, Making>(count: 4096, weight: 1 << 20))

    package init() {}

    /// The last making of the variant under `key`, if it is still remembered.
    package func last(_ key: CacheKey) -> Making? { makings.withLock { $0.value(for: key) } }

    func note(_ making: Making, of key: CacheKey) {
        let weight = key.text.utf8.count + (making.failure?.utf8.count ?? 0)
        makings.withLock { $0.set(making, for: key, weight: weight) }
    }
}

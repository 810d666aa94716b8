import FoundationEssentials
package import OnesheetCore
import Synchronization

/// What ids of other databases mean, as far as it was asked for in the last day. With it, an address with such an id costs no more than one with
/// the source's own.
///
/// In memory only, and bounded: strangers may choose the ids. The answers themselves are in the cache (`Catalog.own`).
package final class OwnIDs: Sendable {
    private struct Known {
        let own: String
        let time: Range<Date>
    }

    private let titles = Mutex(SegmentedCache<TitleReference, Known>(count: 8192, weight: 1 << 20))
    private let clock: WallClock

    package init(clock: WallClock) { self.clock = clock }

    /// The own id of its source for `title`; `nil` if it has to be asked for.
    package func own(_ title: TitleReference) -> String? {
        let now = clock.now
        return titles.withLock { titles in titles.value(for: title).flatMap { $0.time.contains(now) ? $0.own : nil } }
    }

    func note(_ own: String, for title: TitleReference) {
        let now = clock.now
        let known = Known(own: own, time: now..<now.addingTimeInterval(86_400))
        titles.withLock { $0.set(known, for: title, weight: title.id.utf8.count + own.utf8.count) }
    }
}

import FoundationEssentials
import OnesheetCache
package import OnesheetCore

/// What ids of other databases mean, as long as the stored answer (`Catalog.own`) is fresh. With it, an address with such an id costs no more than
/// one with the source's own. A purge forgets all of it, as the answer may be among what is purged.
package final class OwnIDs: Sendable {
    private let titles: TimedMemory<TitleReference, String>
    private let memory: MemoryTier
    private let clock: WallClock

    init(memory: MemoryTier, clock: WallClock) {
        titles = TimedMemory(clock: clock)
        self.memory = memory
        self.clock = clock
    }

    /// That of memory, which follows each purge, also by another process, and is known without waiting.
    var generation: CacheGeneration { CacheGeneration(memory: memory.generation) }

    /// The own id of its source for `title`; `nil` if it has to be asked for.
    package func own(_ title: TitleReference) -> String? { titles.recall(title, at: generation) }

    /// - Parameter generation: the one before the answer was read.
    func note(_ answer: DatedAnswer<String>, for title: TitleReference, at generation: CacheGeneration) {
        let seconds = answer.freshUntil.map { $0.timeIntervalSince(clock.now) } ?? .infinity
        guard seconds > 0 else { return }
        let bytes = title.id.utf8.count + answer.value.utf8.count
        titles.remember(answer.value, for: title, seconds: seconds, bytes: bytes, at: generation)
    }
}

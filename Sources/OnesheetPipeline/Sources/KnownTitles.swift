import OnesheetCore
import Synchronization

/// The titles that sources have listed lately, and those that the administrator has decided about: what is asked about them is no
/// stranger's invention.
final class KnownTitles: Sendable {
    private let titles = Mutex(TwoGenerations<TitleReference, Void>(count: 16_384, weight: 4 << 20))
    private let sources = Mutex<Set<String>>([])

    func contains(_ title: TitleReference) -> Bool { titles.withLock { $0.value(for: title) != nil } }

    func note(_ title: TitleReference) { titles.withLock { $0.set((), for: title, weight: title.id.utf8.count) } }

    /// Whether this is the first time since the start that titles of `source` are asked about.
    func begin(_ source: String) -> Bool { sources.withLock { $0.insert(source).inserted } }
}

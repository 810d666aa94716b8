import OnesheetCache
import OnesheetCore

/// The scope of purges: everything, or some tags.
typealias PurgeScope = SomeOrAll<CacheTag>

extension PurgeScope {
    /// The scope of `selections`. Expired entries belong to no scope: each server removes its own.
    init(of selections: [CacheSelection]) {
        self.init()
        for selection in selections {
            switch selection {
            case .all: addAll()
            case .tag(let tag): add(tag)
            case .expired: break
            }
        }
    }

    /// The selections to remove. Notices select nothing.
    var selections: [CacheSelection] { isAll ? [.all] : elements.filter { $0.notice == nil }.map { .tag($0) } }
    /// The notices in it, for the other servers.
    var notices: [CacheTag] { elements.filter { $0.notice != nil } }

    /// Whether it concerns an entry with these tags.
    func concerns(_ tags: [CacheTag]) -> Bool { isAll || (!elements.isEmpty && tags.contains(where: elements.contains)) }
}

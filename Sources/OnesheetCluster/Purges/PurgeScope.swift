import OnesheetCache
import OnesheetCore

/// The scope of purges: everything, or some tags. Too many tags become everything.
struct PurgeScope: Sendable, Equatable {
    private(set) var isAll = false
    private(set) var tags: Set<CacheTag> = []

    /// The most tags. Beyond them, the removal of everything costs less than that of each tag.
    static let mostTags = 1000

    init() {}
    static var all: PurgeScope {
        var scope = PurgeScope()
        scope.addAll()
        return scope
    }

    init(_ tags: some Sequence<CacheTag>) { for tag in tags { add(tag) } }

    /// The scope of `selections`. Expired entries belong to no scope: each server removes its own.
    init(_ selections: [CacheSelection]) {
        for selection in selections {
            switch selection {
            case .all: addAll()
            case .tag(let tag): add(tag)
            case .expired: break
            }
        }
    }

    var isEmpty: Bool { !isAll && tags.isEmpty }
    /// The number of its parts, for the size of an outbox.
    var count: Int { isAll ? 1 : tags.count }

    /// The selections to remove. Notices select nothing.
    var selections: [CacheSelection] { isAll ? [.all] : tags.filter { $0.notice == nil }.map { .tag($0) } }
    /// The notices in it, for the other servers.
    var notices: [CacheTag] { tags.filter { $0.notice != nil } }

    /// Whether it concerns an entry with these tags.
    func concerns(_ tags: [CacheTag]) -> Bool { isAll || (!self.tags.isEmpty && tags.contains(where: self.tags.contains)) }

    mutating func add(_ other: PurgeScope) {
        if other.isAll { addAll() }
        for tag in other.tags { add(tag) }
    }

    private mutating func addAll() { (isAll, tags) = (true, []) }

    private mutating func add(_ tag: CacheTag) {
        guard !isAll else { return }
        tags.insert(tag)
        if tags.count > Self.mostTags { addAll() }
    }
}

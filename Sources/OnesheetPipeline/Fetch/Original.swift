import OnesheetHTTP
package import FoundationEssentials
import OnesheetCache
package import OnesheetCore

/// An original, and what may be done with it. What it is changed to keeps the memory that it holds.
struct Original: Sendable {
    private(set) var entry: CacheEntry
    /// Until when it is fresh; `nil` for one that did not come over HTTP, which is fresh for as long as it is there.
    private(set) var freshness: Freshness?
    /// Whether it is stale and serves all the same, because its origin could not be asked.
    private(set) var standsIn = false
    /// The memory that its bytes occupy, while it is under way.
    private let hold: MemoryHold?

    /// - Parameter hold: `nil` for what is counted elsewhere, as the memory tier counts what it has.
    init(entry: CacheEntry, freshness: Freshness?, hold: MemoryHold?) {
        (self.entry, self.freshness, self.hold) = (entry, freshness, hold)
    }

    /// An original out of the cache.
    init(stored entry: CacheEntry, hold: MemoryHold?) {
        self.init(entry: entry, freshness: Freshness(notes: entry.notes), hold: hold)
    }

    /// The same with another entry for its bytes.
    func changed(_ change: (inout CacheEntry) -> Void) -> Original {
        var original = self
        change(&original.entry)
        return original
    }

    /// Pixels as they are shown; `nil` for one that was stored before such things were noted.
    var size: (width: Int, height: Int)? {
        guard let width = entry.notes[Note.width].flatMap({ Int($0) }), let height = entry.notes[Note.height].flatMap({ Int($0) })
        else { return nil }
        return (width, height)
    }

    /// The same, in place of what its origin would have said.
    func standingIn() -> Original {
        var original = self
        original.standsIn = true
        return original
    }

    /// The note that says where an original came from.
    static let place = "origin"
    private static let identity = "original"
    /// The note that says when the origin was asked last.
    static let asked = "asked-at"

    /// Whether it and what is made of it may be stored.
    var isStorable: Bool { freshness?.isStorable ?? true }

    /// What a variant keeps of its original: its identity and its freshness.
    var notesForVariants: [String: String] {
        var notes = freshness?.notes ?? [:]
        notes[Self.identity] = entry.validator
        notes[Self.asked] = entry.notes[Self.asked]
        return notes
    }

    /// Whether `variant` was made of these very bytes.
    func made(_ variant: CacheEntry) -> Bool { variant.notes[Self.identity] == entry.validator }

    /// The same with this freshness, kept for as long as it is of any use and for `lifetime` at the most.
    func with(_ freshness: Freshness, keptAt now: Date, for lifetime: CacheExpiration) -> Original {
        var renewed = changed { entry in
            entry.notes.merge(freshness.notes) { $1 }
            entry.notes[Self.asked] = "\(now.timeIntervalSince1970)"
            let longest = lifetime.moment(from: now) ?? .distantFuture
            entry.cacheTime = .date(min(longest, freshness.usefulUntil(grace: longest.timeIntervalSince(now))))
            entry.expires = entry.cacheTime.moment(from: now)
        }
        renewed.freshness = freshness
        renewed.standsIn = false
        return renewed
    }
}

extension CacheEntry {
    /// When its original's origin was last asked for it; its own making, where there is no such origin.
    package var validated: Date {
        notes[Original.asked].flatMap(Double.init).map(Date.init(timeIntervalSince1970:)) ?? created
    }

    /// What may be done with this entry at `now`, going by its original.
    func state(at now: Date) -> Freshness.State {
        guard let freshness = Freshness(notes: notes) else { return .fresh }
        // The origin was asked in the future: the clock was set back, and nobody knows how old this is.
        return ShelfLife.isFresh(created: validated, end: nil, now: now) ? freshness.state(at: now) : .stale
    }

    /// The same variant with what `original` says now.
    func renewed(by original: Original) -> CacheEntry {
        var renewed = self
        renewed.notes.merge(original.notesForVariants) { $1 }
        renewed.cacheTime = original.entry.cacheTime
        renewed.expires = original.entry.expires
        renewed.tags = original.entry.tags
        return renewed
    }
}

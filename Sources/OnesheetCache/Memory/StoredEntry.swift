internal import OnesheetCore

/// An entry in one piece, so that under the lock a look-up touches one reference count and not one for each part of the entry.
final class StoredEntry: Sendable {
    let entry: CacheEntry

    init(_ entry: CacheEntry) { self.entry = entry }
}

package import OnesheetCore

/// The limits of the shared tier. The defaults are for an object store in the same network.
package struct SharedSettings: Sendable {
    /// Prefix of all names of the servers that share the store.
    package var prefix: String
    /// The longest time that an entry stays.
    package var expires = CacheExpiration.days(30)
    /// The time that a lookup may cost a request.
    package var readDeadline = Duration.seconds(2)
    /// The time of a write, a deletion or a list, for which no request waits.
    package var writeDeadline = Duration.seconds(10)
    /// The time that a shutdown and a removal wait for writes.
    package var flushDeadline = Duration.seconds(5)
    /// Calls in a row that fail until the store is left alone, and for how long.
    package var failures = 5
    package var pause = Duration.seconds(2)
    /// Lookups under way at once; further ones are misses.
    package var readsUnderWay = 64
    /// The time in seconds for which an absent entry is not asked for again.
    package var absence = 2.0
    /// The largest body, in bytes.
    package var bodyLimit = 8 << 20
    /// Entries that wait to be written, and their bytes. Further ones are dropped.
    package var queueLimit = 1024
    package var queueBytes = 64 << 20

    /// Concurrent writes.
    static let writers = 4
    /// The tags of one entry that need a marker.
    static let furtherTags = 16
    /// Objects of one list and one deletion.
    static let page = 1000

    package init(prefix: String) { self.prefix = prefix }

    /// Lookups at once whose objects take a quarter of `memory` at most, if all are as large as they may be; 4 at least.
    /// - Parameter memory: the bytes that originals and pixels may occupy together.
    package func readsUnderWay(within memory: Int) -> Int { max(4, min(64, memory / 4 / max(1, bodyLimit))) }
}

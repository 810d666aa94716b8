package import OnesheetCore

/// The purges of all servers that share a store, as far as this server knows them.
///
/// Answers come from memory: the shared tier asks for every entry that it reads and stores.
package protocol PurgeRecords: Sendable {
    /// The stamp of an entry whose making begins now: the position of the newest purge that this server knows. It changes with every
    /// purge. `nil` if the servers have no log.
    var now: LogPosition? { get }

    /// Whether a purge came after the stamp that concerns an entry with these tags.
    /// - Parameter stamp: the value of `now` when the making of the entry began; `nil` if there was no log then.
    func isPurged(_ stamp: LogPosition?, tags: [CacheTag]) -> Bool
}

/// The records of a server without a coordinator: it knows only its own purges, which delete what they purge.
package struct NoPurgeRecords: PurgeRecords {
    package init() {}

    package var now: LogPosition? { nil }
    package func isPurged(_ stamp: LogPosition?, tags: [CacheTag]) -> Bool { false }
}

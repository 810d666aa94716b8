package import OnesheetCore

/// The newest purge a server had applied when work on an entry began, and the log that has it.
package struct PurgeStamp: Sendable, Hashable {
    /// The epoch of the log; empty if it was not read yet. Positions of two epochs cannot be compared.
    package var epoch: String
    package var position: LogPosition

    package init(epoch: String, position: LogPosition) {
        self.epoch = epoch
        self.position = position
    }
}

/// The purges of all servers that share a store, as far as this server knows them.
///
/// Answers come from memory: the shared tier asks for every entry that it reads and stores.
package protocol PurgeHistory: Sendable {
    /// The stamp of an entry whose making begins now. It changes with every purge. `nil` if the servers have no log.
    var now: PurgeStamp? { get }

    /// Whether a purge came after the stamp that concerns an entry with these tags, or may have come, because the stamp is of a log
    /// that is lost.
    /// - Parameter stamp: the value of `now` when the making of the entry began; `nil` if there was no log then.
    func isPurged(_ stamp: PurgeStamp?, tags: [CacheTag]) -> Bool
}

/// The history of a server without a coordinator: it knows only its own purges, which delete what they purge.
package struct NoPurgeHistory: PurgeHistory {
    package init() {}

    package var now: PurgeStamp? { nil }
    package func isPurged(_ stamp: PurgeStamp?, tags: [CacheTag]) -> Bool { false }
}

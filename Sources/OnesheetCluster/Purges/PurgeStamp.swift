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

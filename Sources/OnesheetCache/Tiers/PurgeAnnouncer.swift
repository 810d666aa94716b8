package import OnesheetCore

/// Tells the other servers of purges by this one.
package protocol PurgeAnnouncer: Sendable {
    /// Notes that a purge begins. From now on this server finds no older entry of other servers that it concerns.
    /// - Returns: the purge. Its `announce(isDoneHere:)` follows.
    func begin(_ selections: [CacheSelection]) -> any BegunPurge
}

/// A purge that has begun on this server.
package protocol BegunPurge: Sendable {
    /// Tells the other servers of the purge.
    /// - Parameter isDoneHere: whether the tiers of this server have removed their entries. If not, this server does it again later.
    /// - Returns: `false` if they are told later.
    func announce(isDoneHere: Bool) async -> Bool
}

package import OnesheetCore

/// Tells the other servers of purges by this one.
package protocol PurgeAnnouncer: Sendable {
    /// Notes that a purge begins. From now on this server finds no older entry of other servers that it concerns. `announce` follows.
    func begin(_ selections: [CacheSelection])

    /// Tells the other servers of a purge that has begun.
    /// - Parameter isDoneHere: whether the tiers of this server have removed their entries. If not, this server does it again later.
    /// - Throws: `CacheError.unannounced` if they are told later.
    func announce(_ selections: [CacheSelection], isDoneHere: Bool) async throws(CacheError)
}

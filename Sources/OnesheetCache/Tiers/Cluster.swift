package import OnesheetCore

/// The servers with which this one shares its work: a store, a coordinator, or both. A server that works alone has no cluster.
package protocol Cluster: Sendable {
    /// The tier of all servers, behind their own; `nil` if they share no store.
    var tier: (any CacheTier)? { get }

    /// Whether the servers tell one another of their purges, which takes a coordinator.
    var tellsOfPurges: Bool { get }

    /// Purges, and tells the other servers. From the start on, this server finds no older entry of theirs that the purge concerns.
    /// - Parameters:
    ///   - selections: what is purged, and notices for the others.
    ///   - purge: purges the tiers. Returns whether those of this server have removed their entries. If not, this server does it again later.
    /// - Returns: `false` if the others are told later.
    func announcing(_ selections: [CacheSelection], _ purge: () async -> Bool) async -> Bool

    /// Drops what waits for the tier of all servers, and removes what is being written there, unless the servers tell one another of
    /// purges. Called after a purge by another process on this machine, which may concern any of it.
    func dropQueued() async throws(CacheError)

    /// Waits for this server's turn at work that one server should do for all.
    /// - Parameter key: the key of the entry that the work makes.
    /// - Returns: the turn, which the caller ends; `nil` if it works without one, because there is none in time.
    func turn(at key: CacheKey) async throws(CancellationError) -> ClusterTurn?
}

/// A server's turn at a piece of work.
package struct ClusterTurn: Sendable {
    /// What the turn was used for.
    package enum Outcome: Sendable {
        /// The work is done. The others wait until they find its result in the store.
        case done
        /// Another server had done the work.
        case foundElsewhere
        /// The next server tries.
        case failed
    }

    /// Whether another server may have stored the entry since the caller has looked for it.
    package let mayBeDone: Bool
    private let onEnd: @Sendable (Outcome) -> Void

    /// - Parameter onEnd: called once.
    package init(mayBeDone: Bool, onEnd: @escaping @Sendable (Outcome) -> Void) {
        self.mayBeDone = mayBeDone
        self.onEnd = onEnd
    }

    /// Ends the turn. The caller does not wait for the others.
    package func end(_ outcome: Outcome) { onEnd(outcome) }
}

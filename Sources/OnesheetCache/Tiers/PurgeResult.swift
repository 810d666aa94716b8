package import OnesheetCore

/// The result of a purge after which this server serves no purged entry.
package struct PurgeResult: Sendable {
    /// The count of the largest tier, because the same entry is usually in several.
    package let removal: CacheRemoval
    /// What is left to do elsewhere; `nil` if nothing is.
    package let rest: UnfinishedPurge?

    init(_ removal: CacheRemoval, rest: UnfinishedPurge? = nil) {
        self.removal = removal
        self.rest = rest
    }

    /// The removal of a purge of which nothing is left.
    /// - Throws: what is left.
    package func finished() throws(Failure) -> CacheRemoval {
        if let rest { throw rest.failure }
        return removal
    }
}

/// What is left of a purge that is done on this server.
package enum UnfinishedPurge: Sendable, Equatable, CustomStringConvertible {
    /// The other servers are told once the coordinator can be reached.
    case unannounced
    /// No server serves the purged entries, but the store that the servers share could not delete all objects, which are no longer valid.
    case undeleted

    package var description: String {
        switch self {
        case .unannounced:
            "the entries are removed on this server only, because the coordinator cannot be reached; "
                + "the other servers are told once it can be reached again"
        case .undeleted:
            "the entries are purged on all servers, but the shared store could not delete all of its objects; "
                + "no server serves them, and a later purge deletes them"
        }
    }

    /// The failure for callers who want all servers purged.
    package var failure: Failure {
        let title =
            switch self {
            case .unannounced: "Other servers not reached"
            case .undeleted: "Objects not deleted"
            }
        return Failure(blame: .server, status: .unavailable, title: title, message: description)
    }
}

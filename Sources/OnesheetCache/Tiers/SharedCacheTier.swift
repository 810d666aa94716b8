package import OnesheetCore

/// A tier that several servers share.
package protocol SharedCacheTier: CacheTier {
    /// Waits until other servers can find what was stored under `key`, or until it is certain that they will not.
    func settle(_ key: CacheKey) async

    /// Drops what waits to be written, and removes what is being written, unless the tier knows the purges of other processes. Called after
    /// a purge by another process on this machine, which may concern any of it.
    func dropQueued() async throws(CacheError)

    /// Forgets that there was no entry under `key` a moment ago, so that the next lookup asks the store.
    func forgetAbsence(of key: CacheKey)
}

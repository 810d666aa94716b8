package import OnesheetCore

/// A tier that several servers share.
package protocol SharedCacheTier: CacheTier {
    /// Waits until other servers can find what was stored under `key`, or until it is certain that they will not.
    func settle(_ key: CacheKey) async

    /// Forgets that there was no entry under `key` a moment ago, so that the next lookup asks the store.
    func forgetAbsence(of key: CacheKey)
}

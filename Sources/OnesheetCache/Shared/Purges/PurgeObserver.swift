package import OnesheetCore

/// Prepares this server for the purges of other servers, such as by reading the decision that led to one.
package protocol PurgeObserver: Sendable {
    /// Called before a purge of another server is applied here. It delays the purge, so it ends in a few seconds.
    /// - Parameters:
    ///   - notices: the tags that the other servers announce.
    ///   - isAll: whether everything was purged, and with it any notice may have been lost.
    func prepare(for notices: [CacheTag], isAll: Bool) async
}

package import OnesheetCore

/// Finds the addresses behind the names of hosts. Tests put a table in its place.
package protocol NameResolver: Sendable {
    /// The addresses of `name`, in the order in which to try them.
    /// - Throws: `ResolveError` if there is none, or none in time.
    func addresses(of name: String) async throws(ResolveError) -> [IPAddress]

    /// Ends its threads, without waiting for those that hang.
    func shutdown()
}

/// Why a name leads nowhere.
package enum ResolveError: Error, Sendable, Equatable {
    /// The name has no address.
    case unknown
    case timedOut
    /// Too many names are being looked up already.
    case busy
}

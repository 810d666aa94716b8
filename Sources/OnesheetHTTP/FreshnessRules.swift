package import OnesheetCore

/// What the configuration says about the freshness of a source's originals, whatever the origin says.
package struct FreshnessRules: Sendable, Hashable {
    /// Seconds for which an original is fresh at least. It does not make storable what the origin forbids to store.
    package var minimum: Double
    /// Seconds for which an original is fresh at most.
    package var maximum: Double
    /// Seconds for which an original is fresh when the origin says nothing, not even when it was changed last.
    package var unsaid: Double
    /// Seconds for which an original that is past its time is still served while it is fetched again, where the origin says nothing.
    package var staleWhileRevalidate: Double
    /// Seconds for which it is still served when fetching it again fails, where the origin says nothing.
    package var staleIfError: Double

    package init(
        minimum: Double = 0, maximum: Double = .infinity, unsaid: Double = 86_400, staleWhileRevalidate: Double = 60,
        staleIfError: Double = 86_400
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.unsaid = unsaid
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
    }

    /// The rules as a source is configured.
    package init(_ settings: FreshnessSettings) {
        self.init()
        minimum = settings.minimum?.seconds ?? minimum
        maximum = settings.maximum?.seconds ?? maximum
        staleWhileRevalidate = settings.staleWhileRevalidate?.seconds ?? staleWhileRevalidate
        staleIfError = settings.staleIfError?.seconds ?? staleIfError
    }
}

package import OnesheetCore

/// The configured freshness of a source's originals, which overrides the origin.
package struct FreshnessRules: Sendable, Hashable {
    /// The minimum freshness in seconds. It does not override `no-store`.
    package var minimum: Double
    /// The maximum freshness in seconds.
    package var maximum: Double
    /// The freshness in seconds if the response has neither freshness information nor `Last-Modified`.
    package var unsaid: Double
    /// Seconds for which a stale original may be served while it is revalidated, if the origin does not say.
    package var staleWhileRevalidate: Double
    /// Seconds for which a stale original may be served if revalidation fails, if the origin does not say.
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

    /// Creates the rules from a source's settings.
    package init(_ settings: FreshnessSettings) {
        self.init()
        minimum = settings.minimum?.seconds ?? minimum
        maximum = settings.maximum?.seconds ?? maximum
        staleWhileRevalidate = settings.staleWhileRevalidate?.seconds ?? staleWhileRevalidate
        staleIfError = settings.staleIfError?.seconds ?? staleIfError
    }
}

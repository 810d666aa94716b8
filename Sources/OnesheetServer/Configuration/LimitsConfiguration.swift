package import OnesheetCore

/// The keys of `limits`.
package struct LimitsConfiguration: Sendable, ConfigurationSection, Equatable {
    package var limits = Limits()

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("originBytes", \.limits.originBytes, as: ByteSize.self, meaning: "an original, or an answer of a service"),
            Setting("pixels", \.limits.pixels, as: Count.self, meaning: "pixels of an original"),
            Setting("outputPixels", \.limits.outputPixels, as: Count.self, meaning: "pixels of a variant"),
            Setting("scans", \.limits.scans, meaning: "scans of a progressive JPEG"),
            Setting("originTimeout", \.limits.originTimeout, as: Interval.self, meaning: "one request to an origin"),
            Setting("originIdleTimeout", \.limits.originIdleTimeout, as: Interval.self, meaning: "silence of an origin"),
            Setting("originConcurrency", \.limits.originConcurrency, meaning: "requests to one host at a time"),
            Setting(
                "originQueue", \.limits.originQueue,
                meaning: "requests that wait for one host; more are refused with a time to come back"),
            Setting("workers", \.limits.workers, meaning: "threads that render"),
            Setting("queue", \.limits.queue, meaning: "renders that wait"),
            Setting("queueTime", \.limits.queueTime, as: Interval.self, meaning: "the longest that a render may wait"),
            Setting("memory", \.limits.memory, as: ByteSize.self, meaning: "originals under way and pixels in the making"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard limits.workers > 0 else { throw ConfigurationError(path: "limits.workers", message: "needs at least 1") }
        guard limits.originConcurrency > 0 else {
            throw ConfigurationError(path: "limits.originConcurrency", message: "needs at least 1")
        }
        guard limits.originQueue >= 0 else {
            throw ConfigurationError(path: "limits.originQueue", message: "cannot be negative")
        }
        guard limits.queue >= 0 else { throw ConfigurationError(path: "limits.queue", message: "cannot be negative") }
    }
}

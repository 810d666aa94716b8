package import OnesheetCore

/// The keys of `limits`.
package struct LimitsConfiguration: Sendable, ConfigurationSection, Equatable {
    package var limits = Limits()

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "originBytes", \.limits.originBytes, as: ByteSize.self,
                meaning: "maximum size of an original, or of a service's response"),
            Setting("pixels", \.limits.pixels, as: Count.self, meaning: "maximum pixels of an original"),
            Setting("outputPixels", \.limits.outputPixels, as: Count.self, meaning: "maximum pixels of a variant"),
            Setting("scans", \.limits.scans, meaning: "maximum scans of a progressive JPEG"),
            Setting("originTimeout", \.limits.originTimeout, as: Interval.self, meaning: "timeout of one request to an origin"),
            Setting(
                "originIdleTimeout", \.limits.originIdleTimeout, as: Interval.self,
                meaning: "timeout of an origin that sends no data"),
            Setting("originConcurrency", \.limits.originConcurrency, meaning: "concurrent requests to one host"),
            Setting(
                "originQueue", \.limits.originQueue,
                meaning: "requests that wait for one host; further ones are refused with `Retry-After`"),
            Setting("workers", \.limits.workers, meaning: "render threads"),
            Setting(
                "queue", \.limits.queue,
                meaning: "renders of visitors that may wait for a thread; as many renders of prefetches may wait beside them"),
            Setting("queueTime", \.limits.queueTime, as: Interval.self, meaning: "maximum time that a render may wait"),
            Setting(
                "memory", \.limits.memory, as: ByteSize.self,
                meaning:
                    "memory for originals, pixels, new variants, responses, connections, HTTP/2 streams, waiting requests, lists of "
                    + "prefetches, and render processes; at least `16MiB`"),
        ]
    }

    private static let mostPixels = 1_000_000_000_000
    /// The memory in which a usual poster becomes a small one, with what stands beside it. The largest size takes twice as much.
    private static let leastMemory = 16 << 20

    package func check() throws(ConfigurationError) {
        guard limits.workers > 0 else { throw ConfigurationError(path: "limits.workers", message: "needs at least 1") }
        guard limits.originConcurrency > 0 else {
            throw ConfigurationError(path: "limits.originConcurrency", message: "needs at least 1")
        }
        guard limits.originQueue >= 0 else {
            throw ConfigurationError(path: "limits.originQueue", message: "cannot be negative")
        }
        guard limits.queue >= 0 else { throw ConfigurationError(path: "limits.queue", message: "cannot be negative") }
        guard limits.memory >= Self.leastMemory else {
            throw ConfigurationError(
                path: "limits.memory",
                message: "needs at least \(Self.leastMemory >> 20)MiB, or no usual poster can be read; 32MiB for large sizes")
        }
        // Predictions multiply them.
        for (key, pixels) in [("pixels", limits.pixels), ("outputPixels", limits.outputPixels)] where pixels > Self.mostPixels {
            throw ConfigurationError(path: "limits.\(key)", message: "can be at most \(Self.mostPixels / 1_000_000_000)G")
        }
    }
}

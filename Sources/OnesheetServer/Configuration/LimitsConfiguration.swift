package import OnesheetCore

/// The keys of `limits`.
package struct LimitsConfiguration: Sendable, Decodable, Equatable {
    package var limits = Limits()

    private enum CodingKeys: CodingKey {
        case originBytes, pixels, outputPixels, scans, originTimeout, originIdleTimeout, originConcurrency, originQueue, workers,
            queue, queueTime, memory
    }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        limits.originBytes = try keys.decodeIfPresent(ByteSize.self, forKey: .originBytes)?.bytes ?? limits.originBytes
        limits.pixels = try keys.decodeIfPresent(Count.self, forKey: .pixels)?.value ?? limits.pixels
        limits.outputPixels = try keys.decodeIfPresent(Count.self, forKey: .outputPixels)?.value ?? limits.outputPixels
        limits.scans = try keys.decodeIfPresent(Int.self, forKey: .scans) ?? limits.scans
        limits.originTimeout = try keys.decodeIfPresent(Interval.self, forKey: .originTimeout)?.duration ?? limits.originTimeout
        limits.originIdleTimeout =
            try keys.decodeIfPresent(Interval.self, forKey: .originIdleTimeout)?.duration ?? limits.originIdleTimeout
        limits.originConcurrency = try keys.decodeIfPresent(Int.self, forKey: .originConcurrency) ?? limits.originConcurrency
        limits.originQueue = try keys.decodeIfPresent(Int.self, forKey: .originQueue) ?? limits.originQueue
        limits.workers = try keys.decodeIfPresent(Int.self, forKey: .workers) ?? limits.workers
        limits.queue = try keys.decodeIfPresent(Int.self, forKey: .queue) ?? limits.queue
        limits.queueTime = try keys.decodeIfPresent(Interval.self, forKey: .queueTime)?.duration ?? limits.queueTime
        limits.memory = try keys.decodeIfPresent(ByteSize.self, forKey: .memory)?.bytes ?? limits.memory
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

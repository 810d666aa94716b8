internal import FoundationEssentials
internal import Logging
internal import NIOCore
package import OnesheetCore

/// Values of one type in the cache, through all its tiers: a source's answers, for example.
package struct TypedStorage<Value: DataConvertible>: Sendable {
    private let cache: Cache
    private let name: String
    private let clock: WallClock
    private let executor = BoundedExecutor(threads: 1)

    /// Bytes of a value that is read where it is asked for. A larger one, which a source can make as large as it likes, is read on a
    /// thread for that, and so is every value written, because its size is unknown until then.
    private static var smallSize: Int { 64 << 10 }

    /// - Parameter name: what sets these values' keys apart from other storages' in the same cache.
    package init(_ name: String, in cache: Cache, clock: WallClock = .system) {
        (self.name, self.cache, self.clock) = (name, cache, clock)
    }

    /// The fresh value under `key`. Bytes that are no such value any more, after a change of the type for example, are none.
    package func value(forKey key: String) async -> Value? {
        guard let hit = await cache.entry(for: cacheKey(key)) else { return nil }
        do {
            let body = hit.entry.body
            if body.readableBytes <= Self.smallSize { return try Value(data: body) }
            return try await withTaskExecutorPreference(executor) { try await Self.read(body) }
        } catch {
            cache.logger.debug("What is cached under \(key) is no \(Value.self) any more: \(error)")
            return nil
        }
    }

    /// Stores `value`.
    /// - Parameters:
    ///   - expiration: how long the value is good for; `nil` is as long as each tier keeps what does not say.
    ///   - cost: milliseconds that it took to get the value.
    ///   - generation: the one that the work began under; nothing is stored if something was purged since. `nil` stores in any case.
    /// - Throws: what the value's `data()` throws.
    package func store(
        _ value: Value, forKey key: String, expiration: CacheExpiration? = nil, tags: [CacheTag] = [], cost: Double = 0,
        ifGeneration generation: CacheGeneration? = nil
    ) async throws {
        let (body, validator) = try await withTaskExecutorPreference(executor) { try await Self.write(value) }
        let entry = CacheEntry(
            body: body, mediaType: Value.mediaType, validator: validator, created: clock.now,
            cacheTime: expiration ?? .never, tags: tags, cost: cost)
        await cache.store(entry, for: cacheKey(key), ifGeneration: generation)
    }

    // Functions of their own, and asynchronous ones: those run where the executor is.
    private static func read(_ body: ByteBuffer) async throws -> Value { try Value(data: body) }

    private static func write(_ value: Value) async throws -> (body: ByteBuffer, validator: String) {
        let body = try value.data()
        return (body, Validator.of(body))
    }

    /// Whether a fresh value is there.
    package func contains(_ key: String) async -> Bool { await cache.contains(cacheKey(key)) }

    package func remove(forKey key: String) async throws(CacheError) { try await cache.remove(cacheKey(key)) }

    private func cacheKey(_ key: String) -> CacheKey { CacheKey(.metadata, "\(name)/\(key)") }
}

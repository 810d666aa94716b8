internal import FoundationEssentials
internal import Logging
internal import NIOCore
package import OnesheetCore
internal import Synchronization

/// Values of one type in the cache, in all its tiers. For example, a source's answers.
package struct TypedStorage<Value: DataConvertible>: Sendable {
    private let cache: Cache
    private let name: String
    private let clock: WallClock
    private let executor = BoundedExecutor(threads: 1)
    private let areSmall: Bool
    private let kept: DecodedValues<Value>?
    private let memory: @Sendable () -> ReadingMemory

    /// The largest value in bytes that is decoded on the calling thread. A larger one, whose size a source can choose, is decoded
    /// on a separate thread. So is every encoded value, because its size is unknown beforehand, unless all are small.
    private static var smallSize: Int { 64 << 10 }

    /// - Parameters:
    ///   - name: distinguishes the keys of these values from those of other storages in the same cache.
    ///   - areSmall: whether no source chooses the size of a value, so that each is encoded on the calling thread.
    ///   - decoded: the bytes of entries whose decoded values are kept.
    ///   - memory: the memory for a value that is read. One that it refuses counts as missing.
    package init(
        _ name: String, in cache: Cache, clock: WallClock = .system, areSmall: Bool = false, keeping decoded: Int = 0,
        reading memory: @escaping @Sendable () -> ReadingMemory
    ) {
        kept = decoded > 0 ? DecodedValues(decoded) : nil
        self.memory = memory
        self.name = name
        self.cache = cache
        self.clock = clock
        self.areSmall = areSmall
    }

    /// The value under `key`, unless it has expired. Bytes that cannot be decoded, for example after a change of the type, count as
    /// missing.
    /// - Parameter isShared: whether other servers may have stored it.
    package func value(forKey key: String, isShared: Bool = true) async -> Value? {
        let memory = memory()
        defer { withExtendedLifetime(memory) {} }
        guard let hit = await cache.entry(for: cacheKey(key), isShared: isShared, into: memory) else { return nil }
        return await decoded(hit.entry, forKey: key)
    }

    /// The value under `key` in memory, if another caller has stored it since a lookup that missed.
    package func valueStoredSince(forKey key: String) async -> Value? {
        guard let entry = cache.memory.entryStoredSince(for: cacheKey(key)) else { return nil }
        return await decoded(entry, forKey: key)
    }

    private func decoded(_ entry: CacheEntry, forKey key: String) async -> Value? {
        let body = entry.body
        if let known = kept?.value(of: entry, forKey: cacheKey(key)) { return known }
        do {
            let value =
                if body.readableBytes <= Self.smallSize {
                    try Value(data: body)
                } else {
                    try await withTaskExecutorPreference(executor) { try await Self.read(body) }
                }
            kept?.keep(value, of: entry, forKey: cacheKey(key))
            return value
        } catch {
            cache.logger.debug("the cached value under \(shown(naming: key)) is not a valid \(Value.self): \(error)")
            return nil
        }
    }

    /// Stores `value`.
    /// - Parameters:
    ///   - expiration: the lifetime of the value.
    ///   - generation: the generation at the start of the work. Nothing is stored if a purge came since. `nil` stores
    ///     unconditionally.
    ///   - isShared: whether other servers find it.
    /// - Throws: any error of the value's `data()`.
    package func store(
        _ value: Value, forKey key: String, expiration: CacheExpiration, tags: [CacheTag] = [],
        ifGeneration generation: CacheGeneration? = nil, isShared: Bool = true
    ) async throws {
        let (body, validator) = try await withTaskExecutorPreference(areSmall ? nil : executor) { try await Self.write(value) }
        let entry = CacheEntry(
            body: body, mediaType: Value.mediaType, validator: validator, created: clock.now,
            cacheTime: expiration, tags: tags)
        await cache.store(entry, for: cacheKey(key), ifGeneration: generation, isShared: isShared)
    }

    // Separate asynchronous functions, because those run on the preferred executor.
    private static func read(_ body: ByteBuffer) async throws -> Value { try Value(data: body) }

    private static func write(_ value: Value) async throws -> (body: ByteBuffer, validator: String) {
        let body = try value.data()
        return (body, Validator.of(body))
    }

    private func cacheKey(_ key: String) -> CacheKey { CacheKey(.metadata, "\(name)/\(key)") }
}

/// The values that were decoded last. Decoding a long list takes milliseconds.
private final class DecodedValues<Value: Sendable>: Sendable {
    private let values: Mutex<S3FIFO<(validator: String, value: Value)>>

    /// - Parameter limit: bytes of their entries.
    init(_ limit: Int) { values = Mutex(S3FIFO(weight: limit, count: 4096)) }

    func value(of entry: CacheEntry, forKey key: CacheKey) -> Value? {
        guard let known = values.withLock({ $0.value(for: key) }), known.validator.isExactly(entry.validator) else { return nil }
        return known.value
    }

    func keep(_ value: Value, of entry: CacheEntry, forKey key: CacheKey) {
        let size = entry.body.readableBytes
        values.withLock { if size <= $0.weightLimit / 2 { $0.insert((entry.validator, value), for: key, weight: size) } }
    }
}

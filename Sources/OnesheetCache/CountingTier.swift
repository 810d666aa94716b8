internal import NIOCore
package import OnesheetCore

/// An optional capability of the built-in tiers behind memory: they know the size of an entry before they read it.
package protocol CountingTier: CacheTier {
    /// The entry under `key`, as `entry(for:)` returns it.
    /// - Parameter memory: admits the bytes before they are read. If it refuses, the result is `nil` although there is an entry.
    func counted(_ key: CacheKey, into memory: ReadingMemory) async throws(CacheError) -> CacheEntry?

    /// The entry under `key` without its body, which is not read. Does not extend its lifetime.
    func head(of key: CacheKey) async throws(CacheError) -> CacheHead?
}

extension CacheTier {
    /// The entry under `key`, and memory for its bytes. The bytes from a tier of a plugin, which tells no size, are counted once they are there.
    package func entry(for key: CacheKey, into memory: ReadingMemory) async throws(CacheError) -> CacheEntry? {
        if let tier = self as? any CountingTier { return try await tier.counted(key, into: memory) }
        guard let entry = try await entry(for: key), memory.admit(entry.body.readableBytes) else { return nil }
        return entry
    }

    /// The entry under `key` without its body. A tier of a plugin, which has no heads, reads it.
    package func head(of key: CacheKey, into memory: ReadingMemory) async throws(CacheError) -> CacheHead? {
        if let tier = self as? any CountingTier { return try await tier.head(of: key) }
        return try await entry(for: key, into: memory).map { CacheHead($0, size: $0.body.readableBytes, tier: name) }
    }
}

import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore

/// Stores and reads per second by size of entries.
enum DiskBench {
    static func run() async throws {
        let table = Table(
            "Disk tier, four requests at a time",
            ["entry", "stores/s, synced", "stores/s, not synced", "reads/s", "MB/s read", "absent lookups/s"])
        for (name, size, count) in [
            ("1 KiB", 1 << 10, 2000), ("30 KiB", 30 << 10, 2000), ("300 KiB", 300 << 10, 500), ("3 MiB", 3 << 20, 100),
        ] {
            let synced = try await stores(size, count / 4, isSynced: true).stores
            let (stores, reads, misses) = try await stores(size, count, isSynced: false)
            table.row(name, synced.text(0), stores.text(0), reads.text(0), (reads * Double(size) / 1e6).text(0), misses.text(0))
        }
    }

    private static func stores(_ size: Int, _ count: Int, isSynced: Bool) async throws -> (
        stores: Double, reads: Double, misses: Double
    ) {
        let path = NSTemporaryDirectory() + "cache-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let tier = try DiskTier(path: path, budgets: DiskBudgets(bytes: 20 << 30), isSynced: isSynced)
        let body = ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let entry = CacheEntry(
            body: body, mediaType: "image/jpeg", validator: Validator.of(body), created: Date(), cacheTime: .days(7),
            tags: [CacheTag("source:boxoffice"), CacheTag("title:boxoffice://1")], cost: 20)
        let stores = try await perSecond(count) { try await tier.store(entry, for: CacheKey(.variant, "\($0)")) }
        let reads = try await perSecond(count) { expect(try await tier.entry(for: CacheKey(.variant, "\($0)")) != nil) }
        let misses = try await perSecond(20_000) {
            expect(try await tier.entry(for: CacheKey(.variant, "absent \($0)")) == nil)
        }
        try await tier.close()
        return (stores, reads, misses)
    }

    static func perSecond(_ count: Int, at once: Int = 4, _ body: @escaping @Sendable (Int) async throws -> Void) async throws
        -> Double
    {
        let time = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<once {
                    group.addTask { for number in stride(from: worker, to: count, by: once) { try await body(number) } }
                }
                try await group.waitForAll()
            }
        }
        return Double(count) / time
    }
}

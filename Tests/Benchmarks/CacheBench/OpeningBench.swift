import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore

/// Opening and lookups by number of entries. The entries stay in the folder ONESHEET_BENCH, if it is set, for the next run.
enum OpeningBench {
    static func run(sizes: [Int]) async throws {
        let table = Table(
            "Disk tier by the number of entries",
            [
                "entries", "opening, ms", "first reading, µs", "again, µs", "absent lookup, µs", "again, µs",
                "storing (not synced), µs",
                "memory per entry, bytes",
            ])
        let room = ProcessInfo.processInfo.environment["ONESHEET_BENCH"]
        for count in sizes {
            let path = room.map { "\($0)/entries-\(count)" } ?? NSTemporaryDirectory() + "cache-bench-\(UUID().uuidString)"
            defer { if room == nil { try? FileManager.default.removeItem(atPath: path) } }
            try await fill(path, count)
            let before = residentBytes()
            let start = ContinuousClock.now
            let tier = try DiskTier(path: path, budgets: DiskBudgets(bytes: 1 << 40), isSynced: false)
            let entries = try await tier.statistics().total.entries
            let opening = (ContinuousClock.now - start) / .milliseconds(1)
            expect(entries >= count)
            let first = try await reads(tier, count)
            let again = try await reads(tier, count)
            let absent = try await misses(tier)
            let absentAgain = try await misses(tier)
            let stores = try await perSecond(2000) { try await tier.store(entry(count + $0), for: key(count + $0)) }
            let memory = Double(max(residentBytes() - before, 0)) / Double(count)
            table.row(
                "\(count)", opening.text(), (1e6 / first).text(0), (1e6 / again).text(0), (1e6 / absent).text(0),
                (1e6 / absentAgain).text(0),
                (1e6 / stores).text(0), memory.text(1))
            for number in 0..<2000 { try await tier.remove(key(count + number)) }
            try await tier.close()
        }
    }

    private static func reads(_ tier: DiskTier, _ count: Int) async throws -> Double {
        try await perSecond(5000) { expect(try await tier.entry(for: key($0 &* 7919 % count)) != nil) }
    }

    private static func misses(_ tier: DiskTier) async throws -> Double {
        try await perSecond(5000) { expect(try await tier.entry(for: CacheKey(.variant, "absent \($0)")) == nil) }
    }

    /// Stores the missing entries.
    private static func fill(_ path: String, _ count: Int) async throws {
        let tier = try DiskTier(path: path, budgets: DiskBudgets(bytes: 1 << 40), expires: .never, isSynced: false)
        try await tier.adopt()
        if try await tier.statistics().total.entries < count {
            _ = try await DiskBench.perSecond(count) { number in
                if try await !tier.contains(key(number)) { try await tier.store(entry(number), for: key(number)) }
                if number % 100_000 == 99_999 { FileHandle.standardError.write(Data("\(number + 1) entries are there\n".utf8)) }
            }
        }
        try await tier.close()
    }

    private static func perSecond(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        try await DiskBench.perSecond(count, at: 1, body)
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(.variant, "boxoffice://\(number)#w342.jpg") }

    private static func entry(_ number: Int) -> CacheEntry {
        CacheEntry(
            body: ByteBuffer(repeating: UInt8(number % 256), count: 1000), mediaType: "image/jpeg", validator: "\(number)",
            created: Date(),
            cacheTime: .days(7), tags: [CacheTag("source:boxoffice"), CacheTag("title:boxoffice://\(number / 10)")], cost: 20)
    }

    private static func residentBytes() -> Int {
        do {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
        } catch {
            return 0
        }
    }
}

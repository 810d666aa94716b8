import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore

/// The endless operations of one worker on the cache.
struct CacheTraffic {
    private static let budgets = DiskBudgets(original: 1 << 20, variant: 1 << 20, metadata: 1 << 18)

    private let tier: DiskTier
    private var random: UInt64

    /// Four workers on the cache of `folder`, until the program is killed.
    static func run(folder: String, seed: UInt64) async throws {
        let tier = try DiskTier(path: folder, budgets: budgets, extending: .cacheTime, threads: 4)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask { await CacheTraffic(tier: tier, seed: seed &* 4 &+ UInt64(worker)).run() }
            }
        }
    }

    private init(tier: DiskTier, seed: UInt64) {
        self.tier = tier
        random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    private func run() async {
        var traffic = self
        while true { await traffic.step() }
    }

    private mutating func step() async {
        let key = CacheKey(CacheKind.allCases[next(3)], "poster \(next(120))")
        do {
            switch next(20) {
            case 0: _ = try await tier.remove(.tag(CacheTag("tag \(next(8))")))
            case 1: try await tier.remove(key)
            case 2 where next(10) == 0: _ = try await tier.remove(.all)
            case 2: try await tier.sweep()
            case 3...8: _ = try await tier.entry(for: key)
            default: try await tier.store(entry(for: key), for: key)
            }
            FileHandle.standardOutput.write(Data(".".utf8))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// An entry whose body names its key and consists of one repeated byte.
    private mutating func entry(for key: CacheKey) -> CacheEntry {
        let letter = UInt8(next(256))
        var body = ByteBuffer(string: "\(key)\n")
        body.writeRepeatingByte(letter, count: next(40_000))
        return CacheEntry(
            body: body, mediaType: "image/jpeg", validator: "\(letter)", created: Date(),
            cacheTime: .seconds(next(4) == 0 ? 0.02 : 1000),
            tags: [CacheTag("tag \(next(8))")], cost: Double(next(100)), presentation: Presentation(width: body.readableBytes))
    }

    private mutating func next(_ limit: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((random >> 33) % UInt64(limit))
    }
}

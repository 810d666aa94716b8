import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore

/// Lookups and inserts per second by number of threads, for ten thousand posters requested by Zipf's law.
enum MemoryBench {
    static func run() {
        let table = Table(
            "Memory tier", ["threads", "lookups/s", "CPU ns per lookup", "inserts/s", "CPU ns per insert"])
        var random = Xorshift(seed: 4)
        let law = Zipf(count: 10_000, exponent: 0.9)
        let asked = (0..<(1 << 16)).map { _ in law.sample(&random) }
        for threads in [1, 2, 4, 8] {
            let tier = MemoryTier(bytes: 1 << 30, entries: 20_000)
            let keys = (0..<10_000).map { CacheKey(.variant, "boxoffice://2012\($0)#w342.jpg") }
            let entries = keys.map { key in
                let body = ByteBuffer(repeating: 1, count: 3000)
                return CacheEntry(
                    body: body, mediaType: "image/jpeg", validator: Validator.of(body), created: Date(), cacheTime: .days(7),
                    tags: [CacheTag("source:boxoffice"), CacheTag("title:\(key.text)")], cost: 20)
            }
            for (key, entry) in zip(keys, entries) { tier.storeNow(entry, for: key) }
            let lookUps = measure(threads, count: 2_000_000) { number in
                expect(tier.entryNow(for: keys[asked[number & (asked.count - 1)]]) != nil)
            }
            let others = (0..<50_000).map { CacheKey(.variant, "boxoffice://1999\($0)#w342.jpg") }
            let inserts = measure(threads, count: 500_000) { number in
                tier.storeNow(entries[number % entries.count], for: others[(number &* 7919) % others.count])
            }
            table.row(
                "\(threads)", (lookUps.perSecond / 1e6).text(2) + " M", lookUps.nanoseconds.text(0),
                (inserts.perSecond / 1e6).text(2) + " M",
                inserts.nanoseconds.text(0))
        }
    }

    /// Runs `body` `count` times on several threads. Measures processor time, because other work shares the machine.
    private static func measure(
        _ threads: Int, count: Int, _ body: @escaping @Sendable (Int) -> Void
    ) -> (perSecond: Double, nanoseconds: Double) {
        let group = DispatchGroup()
        let share = count / threads
        let before = processorSeconds()
        let time = seconds {
            for thread in 0..<threads {
                group.enter()
                Thread.detachNewThread {
                    for number in 0..<share { body(thread &* 1_000_003 &+ number) }
                    group.leave()
                }
            }
            group.wait()
        }
        let all = Double(share * threads)
        return (all / time, (processorSeconds() - before) / all * 1e9)
    }

    /// The processor time of this process.
    private static func processorSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

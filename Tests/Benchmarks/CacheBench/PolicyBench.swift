import OnesheetCache
import OnesheetCore

/// The hit ratio of S3-FIFO in comparison with LRU and the optimal policy.
enum PolicyBench {
    static func run() {
        let table = Table(
            "Hit ratio", ["trace", "room, of all keys", "LRU", "ours", "optimal (Belady)", "ours, on the way from LRU to optimal"])
        for trace in Trace.all {
            let distinct = Set(trace.keys).count
            for part in [0.01, 0.05, 0.1] {
                let room = Int(Double(distinct) * part)
                let (lru, ours, best) = (LRU.hits(trace.keys, room), ourHits(trace.keys, room), Belady.hits(trace.keys, room))
                let count = Double(trace.keys.count)
                table.row(
                    trace.name, "\((part * 100).text(0)) %", percent(lru, count), percent(ours, count), percent(best, count),
                    (Double(ours - lru) / Double(max(best - lru, 1)) * 100).text(0) + " %")
            }
        }
    }

    private static func percent(_ hits: Int, _ count: Double) -> String { (Double(hits) / count * 100).text() + " %" }

    private static func ourHits(_ keys: [Int], _ room: Int) -> Int {
        var policy = S3FIFO<Int>(weight: room, count: room)
        var hits = 0
        for key in keys {
            let name = CacheKey(.variant, "\(key)")
            if policy.value(for: name) != nil { hits += 1 } else { policy.insert(key, for: name, weight: 1, cost: 1) }
        }
        return hits
    }
}

/// The most common policy: evicts the least recently used entry.
enum LRU {
    static func hits(_ keys: [Int], _ room: Int) -> Int {
        var lastUse: [Int: Int] = [:]
        var uses: [(key: Int, time: Int)] = []
        var (first, hits) = (0, 0)
        for (time, key) in keys.enumerated() {
            if lastUse[key] != nil {
                hits += 1
            } else if lastUse.count == room {
                while lastUse[uses[first].key] != uses[first].time { first += 1 }
                lastUse[uses[first].key] = nil
                first += 1
            }
            lastUse[key] = time
            uses.append((key, time))
        }
        return hits
    }
}

/// The optimal policy, which knows the future: it evicts, or does not store, the entry whose next use is farthest.
enum Belady {
    static func hits(_ keys: [Int], _ room: Int) -> Int {
        var nextUse = [Int](repeating: .max, count: keys.count)
        var later: [Int: Int] = [:]
        for (time, key) in keys.enumerated().reversed() {
            nextUse[time] = later[key] ?? .max
            later[key] = time
        }
        var held: [Int: Int] = [:]
        var heap = Heap()
        var hits = 0
        for (time, key) in keys.enumerated() {
            if held[key] != nil { hits += 1 }
            held[key] = nextUse[time]
            heap.push((nextUse[time], key))
            while held.count > room, let (use, last) = heap.pop() {
                if held[last] == use { held[last] = nil }
            }
        }
        return hits
    }
}

/// A heap with the largest element on top.
struct Heap {
    private var items: [(Int, Int)] = []

    mutating func push(_ item: (Int, Int)) {
        items.append(item)
        var place = items.count - 1
        while place > 0, items[(place - 1) / 2] < items[place] {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func pop() -> (Int, Int)? {
        guard let top = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return top }
        items[0] = last
        var place = 0
        while true {
            var largest = place
            for child in [2 * place + 1, 2 * place + 2] where child < items.count && items[largest] < items[child] {
                largest = child
            }
            guard largest != place else { return top }
            items.swapAt(place, largest)
            place = largest
        }
    }
}

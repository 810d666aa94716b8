internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore
internal import Synchronization

/// Entries that wait to be written, bounded by their number and their bytes. Of two entries with one key, only the later is written.
final class WriteBehind: Sendable {
    struct Item {
        let key: CacheKey
        let name: String
        let entry: CacheEntry
        let end: Date?
        let stamp: PurgeStamp?

        var bytes: Int { entry.body.readableBytes }
    }

    enum Admission: Equatable {
        /// - Parameter needsWriter: whether the caller has to start a writer.
        case accepted(needsWriter: Bool)
        case full
        case closed
    }

    private struct State {
        var waiting: [CacheKey: Item] = [:]
        var order: [CacheKey] = []
        var underWay: [CacheKey: Item] = [:]
        var bytes = 0
        var writers = 0
        var isClosed = false
        var observers: [(isMet: @Sendable (borrowing State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// Writes at once.
    private static let writers = 4

    private let limit: Int
    private let byteLimit: Int
    private let state = Mutex(State())

    init(limit: Int, bytes: Int) { (self.limit, byteLimit) = (limit, bytes) }

    /// The number of entries and the bytes of their bodies.
    var size: (entries: Int, bytes: Int) {
        state.withLock { ($0.waiting.count + $0.underWay.count, $0.bytes + $0.underWay.values.reduce(0) { $0 + $1.bytes }) }
    }

    /// The entry under `key` that is not written yet.
    func item(for key: CacheKey) -> Item? { state.withLock { $0.waiting[key] ?? $0.underWay[key] } }

    func add(_ item: Item) -> Admission {
        state.withLock { state in
            guard !state.isClosed else { return .closed }
            let replaced = state.waiting[item.key]
            guard state.waiting.count - (replaced == nil ? 0 : 1) < limit,
                state.bytes - (replaced?.bytes ?? 0) + item.bytes <= byteLimit
            else { return .full }
            if replaced == nil { state.order.append(item.key) }
            state.waiting[item.key] = item
            state.bytes += item.bytes - (replaced?.bytes ?? 0)
            let needsWriter = state.writers < Self.writers
            if needsWriter { state.writers += 1 }
            return .accepted(needsWriter: needsWriter)
        }
    }

    /// The next entry to write, and `finish` ends it. `nil` ends the writer.
    func next() -> Item? {
        state.withLock { state in
            // Two writes of one name at once could end in either order.
            guard let place = state.order.firstIndex(where: { state.underWay[$0] == nil }) else {
                state.writers -= 1
                return nil
            }
            let key = state.order.remove(at: place)
            let item = state.waiting.removeValue(forKey: key)
            state.bytes -= item?.bytes ?? 0
            state.underWay[key] = item
            return item
        }
    }

    func finish(_ item: Item) { change { $0.underWay[item.key] = nil } }

    /// Drops the entries that wait and match.
    /// - Returns: the dropped entries.
    @discardableResult
    func drop(where isDropped: (Item) -> Bool) -> [Item] {
        change { state in
            let dropped = state.waiting.values.filter(isDropped)
            for item in dropped {
                state.waiting[item.key] = nil
                state.bytes -= item.bytes
            }
            state.order.removeAll { state.waiting[$0] == nil }
            return dropped
        }
    }

    /// Drops the entry under `key`, and waits until it is not being written.
    func cancel(_ key: CacheKey) async {
        drop { $0.key == key }
        await wait { $0.underWay[key] == nil }
    }

    /// Waits until everything is written.
    func flush() async { await wait { $0.waiting.isEmpty && $0.underWay.isEmpty } }

    /// Waits for matching writes in progress.
    func settle(where isAwaited: (Item) -> Bool) async {
        let keys = state.withLock { Set($0.underWay.values.filter(isAwaited).map(\.key)) }
        await wait { state in !keys.contains { state.underWay[$0] != nil } }
    }

    /// Waits until the entry under `key` is written or dropped.
    func settle(_ key: CacheKey) async { await wait { $0.waiting[key] == nil && $0.underWay[key] == nil } }

    /// Accepts nothing more.
    func close() { state.withLock { $0.isClosed = true } }

    private func wait(until isMet: @escaping @Sendable (borrowing State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                if isMet(state) { return true }
                state.observers.append((isMet, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    @discardableResult
    private func change<Answer: Sendable>(_ change: (inout State) -> Answer) -> Answer {
        let (answer, due) = state.withLock { state -> (Answer, [CheckedContinuation<Void, Never>]) in
            let answer = change(&state)
            let due = state.observers.indices.filter { state.observers[$0].isMet(state) }
            let continuations = due.map { state.observers[$0].continuation }
            for index in due.reversed() { state.observers.remove(at: index) }
            return (answer, continuations)
        }
        for continuation in due { continuation.resume() }
        return answer
    }
}

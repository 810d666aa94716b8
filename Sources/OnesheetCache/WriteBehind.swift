internal import NIOCore
package import OnesheetCore
internal import Synchronization

/// An entry that waits to be written to a tier.
package protocol QueuedWrite: Sendable {
    var key: CacheKey { get }
    var entry: CacheEntry { get }
}

extension QueuedWrite {
    package var bytes: Int { entry.body.readableBytes }
}

/// Entries that wait to be written, bounded by their number and their bytes. Of two entries with one key, only the later is written.
package final class WriteBehind<Item: QueuedWrite>: Sendable {
    package enum Admission: Equatable {
        /// - Parameter needsWriter: whether the caller has to start a writer.
        case accepted(needsWriter: Bool)
        case full
        case closed
    }

    private struct Place {
        let item: Item
        /// The number of additions up to and including this one.
        let number: Int
    }

    private struct State {
        var waiting: [CacheKey: Place] = [:]
        var order: [CacheKey] = []
        var underWay: [CacheKey: Place] = [:]
        var bytes = 0
        var additions = 0
        var writers = 0
        var isClosed = false
        var observers: [(isMet: @Sendable (borrowing State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let limit: Int
    private let byteLimit: Int
    private let state = Mutex(State())

    package init(limit: Int, bytes: Int) {
        self.limit = limit
        byteLimit = bytes
    }

    /// The number of entries and the bytes of their bodies.
    package var size: (entries: Int, bytes: Int) {
        state.withLock { ($0.waiting.count + $0.underWay.count, $0.bytes + $0.underWay.values.reduce(0) { $0 + $1.item.bytes }) }
    }

    /// The entry under `key` that is not written yet.
    package func item(for key: CacheKey) -> Item? { state.withLock { ($0.waiting[key] ?? $0.underWay[key])?.item } }

    // MARK: Adding

    /// - Parameters:
    ///   - writers: the number of writers that suffices for this entry.
    ///   - awaitedLimit: the most entries if the caller waits for the write. If it does not, the limits of the queue apply.
    ///   - replace: gets the waiting entry that is not written because of this one.
    package func add(_ item: Item, writers: Int, awaitedLimit: Int? = nil, replacing replace: (Item) -> Void = { _ in })
        -> Admission
    {
        let (admission, replaced) = state.withLock { state -> (Admission, Item?) in
            guard !state.isClosed else { return (.closed, nil) }
            let replaced = state.waiting[item.key]?.item
            guard state.waiting.count - (replaced == nil ? 0 : 1) < awaitedLimit ?? limit,
                awaitedLimit != nil || state.bytes - (replaced?.bytes ?? 0) + item.bytes <= byteLimit
            else { return (.full, nil) }
            if replaced == nil { state.order.append(item.key) }
            state.additions += 1
            state.waiting[item.key] = Place(item: item, number: state.additions)
            state.bytes += item.bytes - (replaced?.bytes ?? 0)
            let needsWriter = state.writers < writers
            if needsWriter { state.writers += 1 }
            return (.accepted(needsWriter: needsWriter), replaced)
        }
        if let replaced { replace(replaced) }
        return admission
    }

    /// Accepts nothing more.
    package func close() { state.withLock { $0.isClosed = true } }

    // MARK: Writing

    /// Starts one writer more, if an entry waits.
    /// - Returns: whether the caller has to write.
    func startWriter() -> Bool {
        state.withLock { state in
            if state.waiting.isEmpty { return false }
            state.writers += 1
            return true
        }
    }

    /// The next entry to write, and `finish` ends it. `nil` ends the writer.
    package func next() -> Item? { next(limit: 1).first }

    /// The next entries to write together, and `finish` ends them. None ends the writer.
    func next(limit: Int) -> [Item] {
        state.withLock { state in
            var taken: [Item] = []
            var position = 0
            while taken.count < limit, position < state.order.count {
                let key = state.order[position]
                // Two writes of one name at once could end in either order.
                if state.underWay[key] == nil, let place = state.waiting.removeValue(forKey: key) {
                    state.underWay[key] = place
                    state.bytes -= place.item.bytes
                    taken.append(place.item)
                    state.order.remove(at: position)
                } else {
                    position += 1
                }
            }
            if taken.isEmpty { state.writers -= 1 }
            return taken
        }
    }

    package func finish(_ items: [Item]) { change { state in for item in items { state.underWay[item.key] = nil } } }

    /// Ends the writer, unless entries wait.
    /// - Returns: whether entries wait, and the writer goes on.
    func pause() -> Bool {
        state.withLock { state in
            if state.waiting.isEmpty { state.writers -= 1 }
            return !state.waiting.isEmpty
        }
    }

    // MARK: Dropping and waiting

    /// Drops the entries that wait and match.
    /// - Returns: the dropped entries.
    @discardableResult
    package func drop(where isDropped: (Item) -> Bool) -> [Item] {
        change { state in
            let dropped = state.waiting.values.map(\.item).filter(isDropped)
            for item in dropped {
                state.waiting[item.key] = nil
                state.bytes -= item.bytes
            }
            state.order.removeAll { state.waiting[$0] == nil }
            return dropped
        }
    }

    /// Drops all entries that wait.
    /// - Returns: the dropped entries, and those that were being written at that moment.
    package func dropAll() -> (dropped: [Item], underWay: [Item]) {
        change { state in
            let all = (state.waiting.values.map(\.item), state.underWay.values.map(\.item))
            (state.waiting, state.order) = ([:], [])
            state.bytes = 0
            return all
        }
    }

    /// Drops the entry under `key`, and waits until it is not being written.
    /// - Returns: the dropped entry.
    @discardableResult
    package func cancel(_ key: CacheKey) async -> [Item] {
        let dropped = drop { $0.key == key }
        await wait { $0.underWay[key] == nil }
        return dropped
    }

    /// Waits until everything that was added so far is written.
    package func flush() async {
        let last = state.withLock(\.additions)
        await wait { state in
            !state.waiting.values.contains { $0.number <= last } && !state.underWay.values.contains { $0.number <= last }
        }
    }

    /// Waits for matching writes in progress.
    package func settle(where isAwaited: (Item) -> Bool) async {
        let keys = state.withLock { Set($0.underWay.values.map(\.item).filter(isAwaited).map(\.key)) }
        await wait { state in !keys.contains { state.underWay[$0] != nil } }
    }

    /// Waits until the entry under `key` is written or dropped.
    package func settle(_ key: CacheKey) async { await wait { $0.waiting[key] == nil && $0.underWay[key] == nil } }

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

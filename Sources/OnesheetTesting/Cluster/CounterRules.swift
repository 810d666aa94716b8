internal import OnesheetCore
internal import Synchronization

/// The rules about counters.
extension CoordinatorConformance {
    @Sendable func counting() async throws {
        let counter = name("count")
        let none = try await first.count(of: counter)
        let part = try await first.add(7, to: counter, limit: 10, milliseconds: 60_000)
        let tooMuch = try await second.add(4, to: counter, limit: 10, milliseconds: 60_000)
        let between = try await second.count(of: counter)
        let rest = try await second.add(3, to: counter, limit: 10, milliseconds: 60_000)
        let more = try await first.add(1, to: counter, limit: 10, milliseconds: 60_000)
        let raised = try await first.add(1, to: counter, limit: 11, milliseconds: 60_000)
        let counts = [none, part, tooMuch, between, rest, more, raised]
        try expect(counts == [0, 7, nil, 7, 10, nil, 11], "the counts were \(counts)")
        let tooLarge = try await second.add(1 << 52, to: name("none"), limit: (1 << 52) - 1, milliseconds: 60_000)
        let large = try await second.add(1 << 52, to: name("large"), limit: 1 << 52, milliseconds: 60_000)
        try expect(tooLarge == nil && large == 1 << 52, "of 2^52 were counted \(tooLarge ?? -1), \(large ?? -1)")
    }

    @Sendable func countingFromAFloor() async throws {
        let counter = name("floor")
        let restored = try await first.add(1, to: counter, floor: 5, limit: 10, milliseconds: 60_000)
        let known = try await second.add(1, to: counter, floor: 5, limit: 10, milliseconds: 60_000)
        let tooMuch = try await first.add(1, to: counter, floor: 10, limit: 10, milliseconds: 60_000)
        let unchanged = try await second.count(of: counter)
        let given = try await first.add(-2, to: counter, floor: 9, limit: 10, milliseconds: 60_000)
        let counts = [restored, known, tooMuch, unchanged, given]
        try expect(counts == [6, 7, nil, 7, 7], "the counts were \(counts)")
    }

    @Sendable func givingBack() async throws {
        let counter = name("given back")
        let nothing = try await first.add(-3, to: counter, limit: 10, milliseconds: 60_000)
        let added = try await first.add(10, to: counter, limit: 10, milliseconds: 60_000)
        let given = try await second.add(-4, to: counter, limit: 2, milliseconds: 60_000)
        let again = try await first.add(4, to: counter, limit: 10, milliseconds: 60_000)
        let unchanged = try await second.add(0, to: counter, limit: 5, milliseconds: 60_000)
        let tooMuch = try await second.add(-100, to: counter, limit: 10, milliseconds: 60_000)
        let counts = [nothing, added, given, again, unchanged, tooMuch]
        try expect(counts == [0, 10, 6, 10, 10, 0], "the counts were \(counts)")
    }

    @Sendable func countingAtOnce() async throws {
        let counter = name("at once")
        let granted = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<16 {
                group.addTask {
                    var granted = 0
                    for _ in 0..<20 {
                        let coordinator = number % 2 == 0 ? first : second
                        if try await coordinator.add(3, to: counter, limit: 200, milliseconds: 60_000) != nil { granted += 3 }
                    }
                    return granted
                }
            }
            return try await group.reduce(0, +)
        }
        let count = try await first.count(of: counter)
        try expect(granted == 198 && count == 198, "of 200 were granted \(granted) in threes, and the count is \(count)")
    }

    @Sendable func counterEnds() async throws {
        let counter = name("ends")
        _ = try await first.add(1, to: counter, limit: 10, milliseconds: 2_000)
        let sum = try await second.add(1, to: counter, limit: 10, milliseconds: 60_000)
        try expect(sum == 2, "the count is \(String(describing: sum))")
        try await engine.pass(2_100)
        let count = try await first.count(of: counter)
        let anew = try await first.add(1, to: counter, limit: 10, milliseconds: 60_000)
        try expect(count == 0 && anew == 1, "after its time the count is \(count), and then \(String(describing: anew))")
    }
}

/// Is raised once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

internal import OnesheetCore

/// An entry's slot in a queue of the policy.
struct Slot<Value> {
    /// A vacant slot keeps its last key. An optional key would cost each comparison a copy.
    var key: CacheKey
    /// `nil` in a vacant slot.
    var value: Value?
    var weight: Int
    /// Extra rounds of a costly entry in the main queue.
    var credit: UInt8
    var isInMain: Bool
    /// Recent uses, up to three.
    var uses: UInt8 = 0
    var newer = -1
    var older = -1
}

/// All slots in one array: positions are numbers, and links need no allocation.
struct SlotList<Value> {
    private var slots: [Slot<Value>] = []
    private var vacant: [Int] = []

    var capacity: Int { slots.count }

    subscript(position: Int) -> Slot<Value> {
        _read { yield slots[position] }
    }

    mutating func add(_ slot: Slot<Value>) -> Int {
        guard let position = vacant.popLast() else {
            slots.append(slot)
            return slots.count - 1
        }
        slots[position] = slot
        return position
    }

    mutating func free(_ position: Int) -> Value? {
        let value = slots[position].value
        slots[position].value = nil
        vacant.append(position)
        return value
    }

    mutating func use(_ position: Int) {
        if slots[position].uses < 3 { slots[position].uses += 1 }
    }

    /// Moves to the main queue: its uses reset and its credit starts to count.
    mutating func promote(_ position: Int) {
        slots[position].isInMain = true
        slots[position].uses = slots[position].credit
    }

    mutating func wear(_ position: Int) { slots[position].uses -= 1 }

    mutating func change<Result>(_ position: Int, _ body: (inout Value) -> Result) -> Result? {
        guard var value = slots[position].value else { return nil }
        defer { slots[position].value = value }
        return body(&value)
    }

    mutating func link(_ position: Int, newer: Int, older: Int) {
        (slots[position].newer, slots[position].older) = (newer, older)
    }

    mutating func setNewer(_ position: Int, _ newer: Int) { slots[position].newer = newer }
    mutating func setOlder(_ position: Int, _ older: Int) { slots[position].older = older }
}

/// A queue of slots, newest to oldest.
struct SlotQueue {
    private var newest = -1
    private var last = -1
    private(set) var weight = 0

    /// The oldest slot of the queue.
    var oldest: Int? { last < 0 ? nil : last }

    mutating func push<Value>(_ position: Int, in slots: inout SlotList<Value>) {
        slots.link(position, newer: -1, older: newest)
        if newest >= 0 { slots.setNewer(newest, position) } else { last = position }
        newest = position
        weight += slots[position].weight
    }

    mutating func unlink<Value>(_ position: Int, in slots: inout SlotList<Value>) {
        let (newer, older) = (slots[position].newer, slots[position].older)
        if newer >= 0 { slots.setOlder(newer, older) } else { newest = older }
        if older >= 0 { slots.setNewer(older, newer) } else { last = newer }
        weight -= slots[position].weight
    }
}

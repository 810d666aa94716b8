import FoundationEssentials
import OnesheetCache
import OnesheetCore

/// Which orders are under way and when each scheduled one was last begun, over restarts.
struct PrefetchLedger: Sendable {
    private let state: StatePart
    private static let key = "under way"

    init(_ store: StateStore) { state = store.part("prefetch") }

    /// Orders that were begun and not ended.
    func underWay() async throws -> [PrefetchOrder] { try Self.read(try await state.value(for: Self.key)) }

    func begin(_ order: PrefetchOrder) async throws {
        try await change { orders in
            if !orders.contains(order) { orders.append(order) }
        }
    }

    func end(_ order: PrefetchOrder) async throws {
        try await change { orders in orders.removeAll { $0 == order } }
    }

    /// When the scheduled order of this name was last begun.
    func lastBegun(_ name: String) async throws -> Date? {
        try await state.value(for: "begun \(name)").flatMap(Double.init).map { Date(timeIntervalSince1970: $0) }
    }

    func note(_ name: String, begun moment: Date) async throws {
        try await state.set("\(Int(moment.timeIntervalSince1970))", for: "begun \(name)")
    }

    private func change(_ body: @escaping @Sendable (inout [PrefetchOrder]) -> Void) async throws {
        try await state.change(Self.key) { text in
            // What cannot be read cannot be gone on with, and must not keep what is new from being written down.
            var orders: [PrefetchOrder] = []
            do { orders = try Self.read(text) } catch { orders = [] }
            body(&orders)
            return orders.isEmpty ? nil : String(decoding: try JSONEncoder().encode(orders), as: UTF8.self)
        }
    }

    private static func read(_ text: String?) throws -> [PrefetchOrder] {
        try text.map { try JSONDecoder().decode([PrefetchOrder].self, from: Data($0.utf8)) } ?? []
    }
}

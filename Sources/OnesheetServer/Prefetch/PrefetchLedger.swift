import FoundationEssentials
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// Runs orders and remembers across restarts which ones are under way, and when each scheduled one was last begun.
struct PrefetchLedger: Sendable {
    private let state: StatePart
    private static let key = "under way"

    init(_ store: StateStore) { state = store.part("prefetch") }

    /// Makes what is missing for `order`. The order is remembered until all of it was tried, so that a restarted server continues with it.
    /// - Throws: `RequestError` or `PipelineError` if the order cannot be resolved; it is not remembered then.
    func run(
        _ order: PrefetchOrder, with prefetcher: Prefetcher, _ options: ImageOptions,
        progress: @escaping @Sendable (PrefetchSummary) -> Void = { _ in }
    ) async throws -> PrefetchSummary {
        let transforms = try order.transforms(options)
        let titles = try await prefetcher.titles(order.selection)
        try await begin(order)
        let summary = await prefetcher.run(titles, transforms, progress: progress)
        if summary.done == summary.total { try await end(order) }
        return summary
    }

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
            // An unreadable record is lost, but must not prevent new orders from being recorded.
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

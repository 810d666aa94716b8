import FoundationEssentials
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// Runs prefetch orders. Records across restarts which orders are in progress, and when each scheduled order last began.
struct PrefetchLedger: Sendable {
    private let state: StatePart
    private let jobs: PrefetchJobs
    private static let key = "under way"

    init(_ store: StateStore, _ jobs: PrefetchJobs) {
        state = store.part("prefetch")
        self.jobs = jobs
    }

    /// Renders the missing variants of `order`. The order stays recorded until every variant has been tried, so that a restarted
    /// server can resume it. If its client leaves, or the administrator stops it, it ends too.
    /// - Parameters:
    ///   - variants: those of `order`.
    ///   - onBegin: called when the titles are known, before the first variant is made.
    /// - Throws: `RequestError` or `Failure` if the order cannot be resolved. It is not recorded then.
    func run(
        _ order: PrefetchOrder, as variants: [ImageVariant], with prefetcher: Prefetcher,
        onBegin: () async throws -> Void = {},
        progress: @escaping @Sendable (PrefetchSummary) -> Void = { _ in }
    ) async throws -> PrefetchSummary {
        let titles = try await prefetcher.titles(order.selection)
        try await onBegin()
        try await begin(order)
        let total = titles.total(of: variants.count)
        let (summary, wasStopped) = await jobs.run(of: order.source, variants: total, answers: titles.answers) { note in
            await prefetcher.run(titles, variants) { summary in
                note(summary)
                progress(summary)
            }
        }
        if wasStopped || summary.done == summary.total || !Task.isShuttingDownGracefully {
            // In a task of its own, because the store refuses work of a cancelled one.
            try await Task { try await end(order) }.value
        }
        return summary
    }

    /// The orders that have begun and not ended.
    func underWay() async throws -> [PrefetchOrder] { try Self.read(try await state.value(for: Self.key)) }

    func begin(_ order: PrefetchOrder) async throws {
        try await change { orders in
            if !orders.contains(order) { orders.append(order) }
        }
    }

    func end(_ order: PrefetchOrder) async throws {
        try await change { orders in orders.removeAll { $0 == order } }
    }

    /// The time when the scheduled order `name` last began.
    func lastBegun(_ name: String) async throws -> Date? {
        try await state.value(for: "begun \(name)").flatMap(Double.init).map { Date(timeIntervalSince1970: $0) }
    }

    func note(_ name: String, begun moment: Date) async throws {
        try await state.set("\(Int(moment.timeIntervalSince1970))", for: "begun \(name)")
    }

    private func change(_ body: @escaping @Sendable (inout [PrefetchOrder]) -> Void) async throws {
        try await state.change(Self.key) { text in
            // Drop an unreadable record, so that new orders can be recorded.
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

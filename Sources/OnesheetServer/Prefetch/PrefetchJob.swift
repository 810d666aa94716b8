import OnesheetCore
package import OnesheetPipeline

/// An order on its way. It is written down until all of it was tried, so that a server that was ended goes on with it.
package struct PrefetchJob: Sendable {
    package let installation: Installation
    package let order: PrefetchOrder

    package init(installation: Installation, order: PrefetchOrder) { (self.installation, self.order) = (installation, order) }

    /// Makes what is missing. Near the wall of a quota people go before this.
    package func run(_ progress: @escaping @Sendable (PrefetchSummary) -> Void) async throws -> PrefetchSummary {
        try await Urgency.$current.withValue(.prefetch) {
            // An order that cannot be understood is not written down.
            let (titles, transforms) = try await order.resolve(installation)
            try await PrefetchLedger(installation.state).begin(order)
            let summary = await installation.prefetch.run(titles, transforms, progress: progress)
            if summary.done == summary.total { try await PrefetchLedger(installation.state).end(order) }
            return summary
        }
    }

    /// What it would cost, nothing made. Lists that are not cached are asked for: they say which titles there are.
    package func estimate() async throws -> PrefetchEstimate {
        try await Urgency.$current.withValue(.prefetch) {
            let (titles, transforms) = try await order.resolve(installation)
            return await installation.prefetch.estimate(titles, transforms)
        }
    }
}

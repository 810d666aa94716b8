internal import OnesheetCore

/// The limits of a disk tier.
struct DiskSettings: Sendable {
    let path: String
    let budgets: DiskBudgets
    /// The bytes that stay free for other programs, whatever the budgets are.
    let minimumFreeSpace: MinimumFreeSpace
    let isSynced: Bool
    /// The fraction of a budget that eviction reaches once the budget is full.
    static let lowWater = 0.9
    /// The entries of one removal step, during which stores wait.
    static let step = 64
    /// The reads that are recorded in one transaction.
    static let noting = 1024
}

internal import OnesheetCore

/// The limits of a disk tier.
struct DiskSettings: Sendable {
    let path: String
    let budgets: DiskBudgets
    /// How many bytes stay free for others, whatever the budgets say.
    let minimumFreeSpace: MinimumFreeSpace
    let isSynced: Bool
    /// To what part of a budget the sweeper makes room once the budget is reached.
    static let lowWater = 0.9
    /// How many entries one step of removing takes, while stores wait.
    static let step = 64
    /// How many readings are noted at once.
    static let noting = 1024
}

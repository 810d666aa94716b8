/// Whether somebody waits for the outcome. Whoever starts work says so for all that it leads to:
/// `Urgency.$current.withValue(.prefetch) { … }`.
public enum Urgency: Sendable, CaseIterable {
    /// A person or an app has asked.
    case interactive
    /// Nobody has asked yet.
    case prefetch

    /// Of the work that is being done here.
    @TaskLocal public static var current = Urgency.interactive
}

/// Whether a client waits for the outcome. The code that starts work sets it for all code that it calls:
/// `Urgency.$current.withValue(.prefetch) { … }`.
public enum Urgency: Sendable, CaseIterable {
    /// A person or an app waits.
    case interactive
    /// Work before any request.
    case prefetch

    /// The urgency of the current task.
    @TaskLocal public static var current = Urgency.interactive
}

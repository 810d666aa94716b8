/// Whether a client waits for the outcome. The code that starts work says so for all code that it calls.
public enum Urgency: Sendable, CaseIterable {
    /// A person or an app waits.
    case interactive
    /// Work before any request.
    case prefetch

    /// The urgency of the current task.
    public static var current: Urgency { WorkContext.current.urgency }
}

/// Whether a person or an app waits for the outcome. Code that starts work sets it for everything that follows:
/// `Urgency.$current.withValue(.prefetch) { … }`.
public enum Urgency: Sendable, CaseIterable {
    /// A person or an app has asked.
    case interactive
    /// Work in advance of any request.
    case prefetch

    /// Of the work that is being done here.
    @TaskLocal public static var current = Urgency.interactive
}

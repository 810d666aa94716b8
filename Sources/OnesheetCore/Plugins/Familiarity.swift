/// Whether a question concerns a known title or could be made up. The server sets `.unknown` for each request from outside, and the
/// catalogue sets `.known` if it can tell: `Familiarity.$current.withValue(.known) { … }`.
public enum Familiarity: Sendable, CaseIterable {
    /// The source lists the title itself, the administrator asks, or did before.
    case known
    /// An id that no list has, words to search for, a day of long ago. All such questions together may use no more than a share of a
    /// day's quota (`QuotaSettings.unknown`).
    case unknown

    /// Of the question that is being asked here.
    @TaskLocal public static var current = Familiarity.known
}

/// Whether a request is about a known title or about one that could be made up. The server sets `.unknown` for each request from
/// outside. Before it asks the source, it sets `.known` if the source lists the title.
public enum Familiarity: Sendable, CaseIterable {
    /// The source lists the title, or the administrator asks for it or did before.
    case known
    /// An id that no list has, a search, or a day long ago. All such requests together may use no more than a share of the daily
    /// quota (`QuotaSettings.unknown`).
    case unknown

    /// The familiarity of the current task.
    public static var current: Familiarity { WorkContext.current.familiarity }
}

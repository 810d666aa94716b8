/// Titles whose posters may have changed.
public enum TitleChanges: Sendable, Equatable {
    case none
    /// Titles with these ids, which were added, removed or changed.
    case titles([String])
    /// Any title.
    case all
}

/// Which titles may have other posters than before.
public enum TitleChanges: Sendable, Equatable {
    case none
    /// Those of these ids: they came, went or changed.
    case titles([String])
    /// Any.
    case all
}

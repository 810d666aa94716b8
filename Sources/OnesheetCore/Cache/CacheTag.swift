/// A group of entries that can be removed together: all of one source, all of one title. Tags are compared by their bytes.
///
/// Entries that show one picture have a tag, too: `CacheTag.picture(_:)`.
public struct CacheTag: Hashable, Sendable, Codable, CustomStringConvertible {
    public let description: String

    /// A tag with a custom text.
    public init(_ text: String) { description = text }

    /// Everything that came from one source.
    public static func source(_ name: String) -> Self { Self("source:\(name)") }

    /// Everything that came from one title.
    public static func title(_ title: TitleReference) -> Self { Self(titlePrefix + title.description) }

    /// The lists of a source.
    package static func lists(of source: String) -> Self { Self("lists:\(source)") }

    /// What a source says about titles: their names and candidates, without lists and pictures.
    package static func answers(of source: String) -> Self { Self("answers:\(source)") }

    /// A tag that no entry has. A purge with it tells the other servers of something.
    package static func notice(_ text: String) -> Self { Self(noticePrefix + text) }

    private static let titlePrefix = "title:"
    private static let noticePrefix = "notice:"

    /// The title of a tag that `title(_:)` has made; `nil` for other tags.
    package var title: TitleReference? { text(after: Self.titlePrefix).flatMap { TitleReference(written: $0) } }

    /// The text of a notice; `nil` for a tag of entries.
    package var notice: String? { text(after: Self.noticePrefix) }

    private func text(after prefix: String) -> String? {
        guard description.starts(withBytesOf: prefix) else { return nil }
        return String(decoding: description.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    public static func == (left: Self, right: Self) -> Bool { left.description.isExactly(right.description) }
    public func hash(into hasher: inout Hasher) { hasher.combine(exactly: description) }
}

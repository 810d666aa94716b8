import NIOCore
import OnesheetCache
import OnesheetCore

/// The names of the objects of the shared tier.
///
///     {prefix}/v2/{source}/{aa}/{title}/{o|v|m}-{entry}    an entry
///     {prefix}/v2/tags/{tag}/{entry's name with dots}      a marker: that entry has this tag
///
/// `v2` is the format of entries: versions of a rolling upgrade do not misread each other. `source`, `title`, `entry` and `tag` are
/// digests in hexadecimal, and `aa` the first two digits of `title`. So all entries of a title, and all of a source, share a prefix and
/// are found without reading them. Entries with further tags, such as lists, have a marker for each of these.
struct SharedNames: Sendable {
    let prefix: String

    /// Prefix of all names, in any version. Other objects of the servers, such as their state, may be under `prefix` too.
    var everyVersion: String { "\(prefix)/v" }
    /// Prefix of the names of entries and markers.
    var version: String { "\(prefix)/v\(EntryHeader.format)/" }
    private var markers: String { "\(version)tags/" }

    func isMarker(_ name: String) -> Bool { name.starts(withBytesOf: markers) }

    func name(of key: CacheKey) -> String {
        let title = Self.title(of: key.text, kind: key.kind)
        return "\(entries(ofTitle: String(title), source: String(key.source)))\(Self.letter(of: key.kind))-\(key.entryName.hex)"
    }

    /// The digest at the end of an entry's name.
    static func entryName(in name: String) -> Digest128? {
        guard let dash = name.lastIndex(of: "-") else { return nil }
        return Digest128(hex: name[name.index(after: dash)...])
    }

    /// Prefix of the entries whose keys imply `tag`; `nil` if no key implies it.
    func entries(with tag: CacheTag) -> String? {
        let text = tag.description
        if text.starts(withBytesOf: "source:") { return entries(ofSource: String(Substring(text.utf8.dropFirst(7)))) }
        guard text.starts(withBytesOf: "title:") else { return nil }
        let title = String(Substring(text.utf8.dropFirst(6)))
        // A title that is no part of a key.
        guard case let source = CacheKey(.original, title).source, !source.isEmpty, title.starts(withBytesOf: "\(source)://") else {
            return nil
        }
        return entries(ofTitle: String(Self.title(of: title, kind: .original)), source: String(source))
    }

    func entries(ofSource source: String) -> String { "\(version)\(Self.digest("source", source).prefix(8))/" }

    private func entries(ofTitle title: String, source: String) -> String {
        let digest = Self.digest("title", title)
        return "\(entries(ofSource: source))\(digest.prefix(2))/\(digest)/"
    }

    /// The tags of an entry that its key does not say.
    func furtherTags(of entry: CacheEntry, under key: CacheKey) -> [CacheTag] {
        let name = name(of: key)
        return entry.tags.filter { tag in entries(with: tag).map { !name.starts(withBytesOf: $0) } ?? true }
    }

    /// The marker for a tag of the entry that is called `name`.
    func marker(of tag: CacheTag, for name: String) -> String {
        marker(of: tag)
            + name.utf8.dropFirst(version.utf8.count).map { $0 == UInt8(ascii: "/") ? "." : String(UnicodeScalar($0)) }.joined()
    }

    /// Prefix of the markers of a tag.
    func marker(of tag: CacheTag) -> String { "\(markers)\(Self.digest("tag", tag.description))/" }

    /// The name of the entry that a marker is for; `nil` if it is no marker.
    func entry(ofMarker name: String) -> String? {
        guard isMarker(name), let slash = name.lastIndex(of: "/") else { return nil }
        return version
            + name[name.index(after: slash)...].split(separator: ".", omittingEmptySubsequences: false).joined(separator: "/")
    }

    /// The title in a key's text. A `#` ends it: behind the first are a variant's transform and picture. An id with a `#` is cut there
    /// too, and shares its place with another title; a removal of one then removes both.
    private static func title(of text: String, kind: CacheKind) -> Substring {
        let source = CacheKey(kind, text).source
        let start = source.isEmpty ? text.startIndex : source.startIndex
        let end = text.utf8[start...].firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        return text[start..<end]
    }

    private static func letter(of kind: CacheKind) -> String {
        switch kind {
        case .original: "o"
        case .variant: "v"
        case .metadata: "m"
        }
    }

    private static func digest(_ kind: String, _ text: String) -> String { Digest128(of: "\(kind):\(text)".utf8).hex }
}

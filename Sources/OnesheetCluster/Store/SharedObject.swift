import FoundationEssentials
import NIOCore
import OnesheetCache
import OnesheetCore

/// An entry that waits to be written to the store.
struct SharedWrite: QueuedWrite {
    let key: CacheKey
    let name: String
    let entry: CacheEntry
    let end: Date?
    let stamp: PurgeStamp?
}

/// An entry as an object: the very format of the disk tier's files, with a stamp. Nothing unchecked is ever served.
struct SharedObject: Sendable {
    let header: EntryHeader
    let entry: CacheEntry
    let revision: String

    static func bytes(of item: SharedWrite) -> ByteBuffer {
        var bytes = EntryHeader.bytes(
            of: item.entry, for: item.key, named: item.key.entryName, end: item.end, stamp: item.stamp.map(text))
        bytes.writeImmutableBuffer(item.entry.body)
        return bytes
    }

    /// - Throws: `EntryDamage` if it is not an intact entry of that name.
    init(_ object: StoredObject, named name: Digest128) throws(EntryDamage) {
        header = try EntryHeader(object.body, named: name)
        entry = try header.entry(in: object.body)
        revision = object.revision
    }

    /// The epoch and two numbers, as in `9c1a…/1764547200000-3`.
    private static func text(_ stamp: PurgeStamp) -> String {
        "\(stamp.epoch)/\(stamp.position.milliseconds)-\(stamp.position.number)"
    }

    /// A stamp without an epoch is of none.
    fileprivate static func stamp(_ text: String) -> PurgeStamp? {
        let slash = text.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parts = text[(slash.map { text.utf8.index(after: $0) } ?? text.startIndex)...]
            .split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int(parts[0]), let number = Int(parts[1]) else { return nil }
        return PurgeStamp(
            epoch: slash.map { String(text[..<$0]) } ?? "", position: LogPosition(milliseconds: milliseconds, number: number))
    }
}

extension EntryHeader {
    /// The newest purge that was known when the making of the entry began.
    /// - Throws: if the note of the tier is no stamp.
    func purgeStamp() throws(EntryDamage) -> PurgeStamp? {
        guard let stamp else { return nil }
        guard let known = SharedObject.stamp(stamp) else { throw .header }
        return known
    }

    func isAlive(at now: Date) -> Bool { ExpirationPolicy.isAlive(created: facts.created, end: end, now: now) }
}

package import FoundationEssentials
package import NIOCore
package import OnesheetCore

/// The start of an entry's file: all facts except the body, so that the file is complete without an index.
///
/// | offset | bytes | |
/// |---|---|---|
/// | 0 | 8 | the word `ONESHEET` |
/// | 8 | 4 | format |
/// | 12 | 4 | length of the header |
/// | 16 | 8 | length of the body |
/// | 24 | 16 | checksum of the body |
/// | 40 | 16 | checksum of the header: bytes 0 to 39 and from 72 on, including the key |
/// | 56 | 16 | `LifeRecord`: the expiry, the only part that changes |
/// | 72 | … | key, media type, validator, times, cost, tags, notes |
///
/// Key, length and body are all covered by a checksum.
package struct EntryHeader: Equatable {
    package static let format: UInt32 = 2
    /// The offset of the fields with variable length.
    static let fixedLength = 72
    /// Larger than any header; a longer one is damaged.
    package static let lengthLimit = 1 << 20
    private static let word = Array("ONESHEET".utf8)

    package var key: CacheKey
    /// The entry with an empty body.
    package var facts: CacheEntry
    package var end: Date?
    package var length: Int
    package var bodyLength: Int
    var bodyDigest: Digest128
    /// A note of the tier.
    package var stamp: String?

    /// The whole header of `entry` as bytes.
    package static func bytes(
        of entry: CacheEntry, for key: CacheKey, named name: Digest128, end: Date?, stamp: String? = nil
    ) -> ByteBuffer {
        var fields = ByteBuffer()
        fields.writeFields(of: entry, for: key, stamp: stamp)
        var start = ByteBuffer(bytes: word)
        start.writeInteger(format)
        start.writeInteger(UInt32(fixedLength + fields.readableBytes))
        start.writeInteger(UInt64(entry.body.readableBytes))
        start.writeDigest(Digest128(checking: entry.body))
        let digest = digest(start: start, fields: fields)
        start.writeDigest(digest)
        start.writeImmutableBuffer(LifeRecord(end: end).bytes(named: name))
        start.writeBuffer(&fields)
        return start
    }

    /// Parses the header at the start of `file` and ignores the rest.
    /// - Throws: `EntryDamage` if it is not the intact header of the entry called `name`.
    package init(_ file: ByteBuffer, named name: Digest128) throws(EntryDamage) {
        var buffer = file
        guard let word = buffer.readBytes(length: 8), word == Self.word else { throw .notAnEntry }
        guard let format = buffer.readInteger(as: UInt32.self), format == Self.format,
            let length = buffer.readInteger(as: UInt32.self), Int(length) <= Self.lengthLimit, length >= Self.fixedLength,
            let bodyLength = buffer.readInteger(as: UInt64.self), bodyLength < 1 << 40,
            let bodyDigest = buffer.readDigest(), let digest = buffer.readDigest(),
            let life = LifeRecord(reading: &buffer, named: name),
            var fields = file.getSlice(at: file.readerIndex + Self.fixedLength, length: Int(length) - Self.fixedLength),
            let start = file.getSlice(at: file.readerIndex, length: 40)
        else { throw .header }
        guard Self.digest(start: start, fields: fields) == digest, let fields = fields.readStampedFields(),
            name == fields.key.entryName
        else {
            throw .header
        }
        key = fields.key
        facts = fields.entry
        stamp = fields.stamp
        end = life.end
        self.length = Int(length)
        self.bodyLength = Int(bodyLength)
        self.bodyDigest = bodyDigest
    }

    /// The length that the header at the start of `file` says it has, unchecked; `nil` if no header has it.
    package static func length(in file: ByteBuffer) -> Int? {
        guard let length = file.getInteger(at: file.readerIndex + 12, as: UInt32.self),
            (fixedLength...lengthLimit).contains(Int(length))
        else { return nil }
        return Int(length)
    }

    private static func digest(start: ByteBuffer, fields: ByteBuffer) -> Digest128 {
        var header = start
        header.writeImmutableBuffer(fields)
        return Digest128(checking: header)
    }
}

/// A damaged entry file.
package enum EntryDamage: Error, Equatable {
    case notAnEntry
    case header
    case length
    case body
}

extension CacheKey {
    /// The file name for the entry under this key.
    package var entryName: Digest128 { Digest128(of: description.utf8) }
}

extension ByteBuffer {
    mutating func writeDigest(_ digest: Digest128) { writeMultipleIntegers(digest.high, digest.low) }
    mutating func readDigest() -> Digest128? {
        readMultipleIntegers(as: (UInt64, UInt64).self).map { Digest128(high: $0.0, low: $0.1) }
    }
}

/// The expiry of an entry with its own checksum, so that a read can extend the lifetime without rewriting the file.
struct LifeRecord: Equatable {
    static let offset = 56
    static let length = 16
    let end: Date?

    init(end: Date?) { self.end = end }

    /// - Parameter name: the name of the file, so that the record of another file is invalid here.
    init?(reading buffer: inout ByteBuffer, named name: Digest128) {
        guard let (pattern, check) = buffer.readMultipleIntegers(as: (UInt64, UInt64).self),
            check == Self.check(pattern, name)
        else { return nil }
        let seconds = Double(bitPattern: pattern)
        end = seconds == .infinity ? nil : Date(timeIntervalSinceReferenceDate: seconds)
    }

    func bytes(named name: Digest128) -> ByteBuffer {
        let pattern = (end?.timeIntervalSinceReferenceDate ?? .infinity).bitPattern
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(pattern, Self.check(pattern, name))
        return buffer
    }

    private static func check(_ pattern: UInt64, _ name: Digest128) -> UInt64 {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(pattern, name.high, name.low)
        return Digest128(checking: buffer).high
    }
}

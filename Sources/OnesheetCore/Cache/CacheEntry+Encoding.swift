internal import FoundationEssentials
public import NIOCore

/// An entry as bytes, for tiers that store it outside the process.
extension CacheEntry {
    /// The key, the facts and the body of the entry, for `decode(_:)`. Newer versions of Onesheet read the format too.
    ///
    /// The bytes have no checksum. A tier whose medium can damage them needs its own.
    public func encoded(for key: CacheKey) -> ByteBuffer {
        var fields = ByteBuffer()
        fields.writeFields(of: self, for: key)
        var bytes = ByteBuffer()
        bytes.reserveCapacity(4 + fields.readableBytes + body.readableBytes)
        bytes.writeInteger(UInt32(fields.readableBytes))
        bytes.writeBuffer(&fields)
        bytes.writeImmutableBuffer(body)
        return bytes
    }

    /// Reads the output of `encoded(for:)` with its key; `nil` if the bytes are not such an entry.
    public static func decode(_ bytes: ByteBuffer) -> (key: CacheKey, entry: CacheEntry)? {
        var bytes = bytes
        guard let length = bytes.readInteger(as: UInt32.self), var fields = bytes.readSlice(length: Int(length)),
            let (key, facts) = fields.readFields()
        else { return nil }
        var entry = facts
        entry.body = bytes
        return (key, entry)
    }
}

/// The fields of the header: texts with a length prefix, numbers in network byte order, dates as the bits of their seconds.
extension ByteBuffer {
    /// - Parameter stamp: a note for the tier only; the entry does not have it.
    package mutating func writeFields(of entry: CacheEntry, for key: CacheKey, stamp: String? = nil) {
        writeText(key.kind.rawValue)
        writeText(key.text)
        writeText(entry.mediaType)
        writeText(entry.validator)
        writeMoment(entry.created)
        writeExpiration(entry.cacheTime)
        writeMoment(entry.expires)
        writeNumber(entry.cost)
        writeInteger(UInt32(entry.tags.count))
        for tag in entry.tags { writeText(tag.description) }
        let notes = EntryNotes(entry, stamp: stamp).pairs
        writeInteger(UInt32(notes.count))
        for (name, value) in notes {
            writeText(name)
            writeText(value)
        }
    }

    /// The key and the entry with an empty body; `nil` if the bytes are not exactly these fields.
    package mutating func readFields() -> (CacheKey, CacheEntry)? { readStampedFields().map { ($0.key, $0.entry) } }

    /// The same with the tier's own note.
    package mutating func readStampedFields() -> (key: CacheKey, entry: CacheEntry, stamp: String?)? {
        guard let kind = readText().flatMap(CacheKind.init(rawValue:)), let text = readText(), let mediaType = readText(),
            let validator = readText(), let created = readMoment() ?? nil, let cacheTime = readExpiration(),
            let expires = readMoment(),
            let cost = readCost(), let tags = readList({ $0.readText().map { CacheTag($0) } }),
            let notes = readNotes(), readableBytes == 0
        else { return nil }
        var entry = CacheEntry(
            body: ByteBuffer(), mediaType: mediaType, validator: validator, created: created, cacheTime: cacheTime, tags: tags,
            cost: cost, freshness: notes.freshness, provenance: notes.provenance, presentation: notes.presentation)
        entry.expires = expires
        return (CacheKey(kind, text), entry, notes.stamp)
    }

    private mutating func writeText(_ text: String) {
        writeInteger(UInt32(text.utf8.count))
        writeString(text)
    }

    private mutating func readText() -> String? {
        guard let length = readInteger(as: UInt32.self), Int(length) <= readableBytes else { return nil }
        return readString(length: Int(length)).flatMap { $0.isStreamSafe ? $0 : nil }
    }

    private mutating func writeNumber(_ number: Double) { writeInteger(number.bitPattern) }
    /// Milliseconds of a render, of which there are less than a day's. One of infinity would never be evicted.
    private mutating func readCost() -> Double? {
        readNumber().map { $0.isNaN ? 0 : min(max($0, 0), 86_400_000) }
    }

    private mutating func readNumber() -> Double? { readInteger(as: UInt64.self).map(Double.init(bitPattern:)) }

    /// `nil`, never, is encoded as infinity.
    private mutating func writeMoment(_ moment: Date?) { writeNumber(moment?.timeIntervalSinceReferenceDate ?? .infinity) }

    private mutating func readMoment() -> Date?? {
        guard let number = readNumber(), number == .infinity || Date.isPlausible(number) else { return nil }
        return .some(number == .infinity ? nil : Date(timeIntervalSinceReferenceDate: number))
    }

    private mutating func writeExpiration(_ expiration: CacheExpiration) {
        let (form, number): (UInt8, Double) =
            switch expiration {
            case .never: (0, 0)
            case .seconds(let seconds): (1, seconds)
            case .days(let days): (2, Double(days))
            case .date(let date): (3, date.timeIntervalSinceReferenceDate)
            }
        writeInteger(form)
        writeNumber(number)
    }

    private mutating func readExpiration() -> CacheExpiration? {
        guard let form = readInteger(as: UInt8.self), let number = readNumber() else { return nil }
        return switch form {
        case 0: .never
        case 1: .seconds(number)
        case 2: Int(exactly: number).map { .days($0) }
        case 3: .date(Date(timeIntervalSinceReferenceDate: number))
        default: nil
        }
    }

    private mutating func readNotes() -> EntryNotes? {
        guard let count = readInteger(as: UInt32.self), Int(count) <= readableBytes else { return nil }
        var notes = EntryNotes()
        for _ in 0..<count {
            guard let name = readText(), let value = readText() else { return nil }
            notes.add(name, value: value)
        }
        return notes
    }

    private mutating func readList<Item>(_ readItem: (inout ByteBuffer) -> Item?) -> [Item]? {
        guard let count = readInteger(as: UInt32.self), Int(count) <= readableBytes else { return nil }
        var items: [Item] = []
        for _ in 0..<count {
            guard let item = readItem(&self) else { return nil }
            items.append(item)
        }
        return items
    }
}

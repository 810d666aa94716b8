/// Reads and writes the EXIF fields that Onesheet uses: orientation and copyright, in a TIFF structure of either byte order (CIPA
/// DC-008).
///
/// Damaged structures are read as far as possible. Bad metadata never makes a picture unusable.
public struct EXIF: Sendable, Equatable {
    /// How the picture is to be turned.
    public var orientation = Orientation.up
    /// The copyright notice.
    public var copyright: String?

    public init() {}

    private enum Tag {
        static let orientation = 0x0112
        static let copyright = 0x8298
    }

    /// Reads the first directory of `tiff`: the bytes after `Exif\0\0` (JPEG), of an `eXIf` chunk (PNG) or of an `Exif` item.
    public init(tiff: [UInt8]) {
        guard let reader = TIFFReader(tiff) else { return }
        // The first occurrence of a tag counts (TIFF 6.0 §2). Otherwise thousands of copies of a long text would be read thousands
        // of times.
        if let entry = reader.entries.first(where: { $0.tag == Tag.orientation }) {
            orientation = reader.integer(entry).flatMap(Orientation.init) ?? .up
        }
        if let entry = reader.entries.first(where: { $0.tag == Tag.copyright }) { copyright = reader.text(entry) }
    }

    /// The longest copyright notice, in bytes. A longer one is cut off.
    static let longestCopyright = 65_000

    /// The same structure with an upright orientation, for pixels that have been turned.
    public static func upright(tiff: [UInt8]) -> [UInt8] {
        var bytes = tiff
        guard let reader = TIFFReader(tiff) else { return tiff }
        // One SHORT, whatever its type was.
        let entry: [UInt8] = reader.isLittleEndian ? [3, 0, 1, 0, 0, 0, 1, 0, 0, 0] : [0, 3, 0, 0, 0, 1, 0, 1, 0, 0]
        for found in reader.entries where found.tag == Tag.orientation {
            bytes.replaceSubrange(found.offset + 2..<found.offset + 12, with: entry)
        }
        return bytes
    }

    /// A TIFF structure that has only the copyright notice.
    public static func tiff(copyright: String) -> [UInt8] {
        let text = Array(copyright.utf8.prefix(longestCopyright)) + [0]
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
        func long(_ value: Int) -> [UInt8] { word(value & 0xFFFF) + word(value >> 16) }
        let value = text.count <= 4 ? text + [UInt8](repeating: 0, count: 4 - text.count) : long(26)
        let directory = word(1) + word(Tag.copyright) + word(2) + long(text.count) + value + long(0)
        return [0x49, 0x49] + word(42) + long(8) + directory + (text.count <= 4 ? [] : text)
    }
}

/// Reads the entries of a TIFF structure's first directory, never outside its bytes.
private struct TIFFReader {
    struct Entry {
        let tag: Int
        let kind: Int
        let count: Int
        /// The offset of the entry's twelve bytes.
        let offset: Int
    }

    let bytes: [UInt8]
    let isLittleEndian: Bool
    private(set) var entries: [Entry] = []

    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        switch bytes.prefix(4) {
        case [0x49, 0x49, 42, 0]: isLittleEndian = true
        case [0x4D, 0x4D, 0, 42]: isLittleEndian = false
        default: return nil
        }
        guard let start = number(at: 4, bytes: 4), let count = number(at: start, bytes: 2) else { return nil }
        for index in 0..<count {
            let offset = start + 2 + index * 12
            guard let tag = number(at: offset, bytes: 2), let kind = number(at: offset + 2, bytes: 2),
                let count = number(at: offset + 4, bytes: 4), offset + 12 <= bytes.count
            else { break }
            entries.append(Entry(tag: tag, kind: kind, count: count, offset: offset))
        }
    }

    /// The single whole number of an entry. Writers use different integer types, so all are accepted (TIFF 6.0 §2).
    func integer(_ entry: Entry) -> Int? {
        guard entry.count == 1 else { return nil }
        func signed(_ bytes: Int) -> Int? {
            number(at: entry.offset + 8, bytes: bytes).map { $0 >= 1 << (8 * bytes - 1) ? $0 - 1 << (8 * bytes) : $0 }
        }
        return switch entry.kind {
        case 1: number(at: entry.offset + 8, bytes: 1)
        case 3: number(at: entry.offset + 8, bytes: 2)
        case 4: number(at: entry.offset + 8, bytes: 4)
        case 6: signed(1)
        case 8: signed(2)
        case 9: signed(4)
        default: nil
        }
    }

    func text(_ entry: Entry) -> String? {
        let start = entry.count <= 4 ? entry.offset + 8 : number(at: entry.offset + 8, bytes: 4) ?? .max
        guard entry.kind == 2, entry.count > 0, start <= bytes.count, entry.count <= bytes.count - start else { return nil }
        let text = String(
            decoding: bytes[start..<start + entry.count].prefix(EXIF.longestCopyright).prefix { $0 != 0 }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }

    private func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - count else { return nil }
        let value = bytes[offset..<offset + count]
        return isLittleEndian
            ? value.reversed().reduce(0) { $0 << 8 | Int($1) } : value.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// Recovers records from the pages of a damaged SQLite file (https://www.sqlite.org/fileformat.html): those of tables without row
/// ids whose columns are all text. It needs neither the file's header nor its schema, and validates every byte.
struct SQLitePages {
    private let bytes: [UInt8]
    private let size: Int
    /// The usable size of a page. Some databases reserve bytes at its end.
    private let usable: Int
    private static let word = Array("SQLite format 3\0".utf8)
    /// Larger than any record of the state.
    private static let lengthLimit = 16 << 20

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var (size, reserved) = (4096, 0)
        if bytes.count >= 100, bytes.starts(with: Self.word) {
            let stored = Int(bytes[16]) << 8 | Int(bytes[17])
            let said = stored == 1 ? 65_536 : stored
            if said >= 512, said.nonzeroBitCount == 1 { (size, reserved) = (said, Int(bytes[20])) }
        }
        self.size = size
        usable = max(size - reserved, 480)
    }

    /// The records of all pages except free ones, which may still have removed records.
    func records() -> [[String]] {
        let free = freePages()
        // Records of an intact file do not overlap. Damage may be a mass of references to one record.
        var budget = bytes.count + Self.lengthLimit
        return (0..<bytes.count / size).filter { !free.contains($0) }.flatMap { records(onPage: $0, &budget) }
    }

    /// - Parameter budget: the bytes of records that may still be copied.
    private func records(onPage page: Int, _ budget: inout Int) -> [[String]] {
        let start = page * size
        // The first page begins with the file's header.
        let header = start + (page == 0 ? 100 : 0)
        let kind = bytes[header]
        // Leaf and interior pages of an index tree. Both hold records.
        guard kind == 0x0A || kind == 0x02 else { return [] }
        let (isLeaf, count) = (kind == 0x0A, number(header + 3, bytes: 2))
        let pointers = header + (isLeaf ? 8 : 12)
        guard pointers + 2 * count <= start + size else { return [] }
        var records: [[String]] = []
        for cell in 0..<count {
            let offset = number(pointers + 2 * cell, bytes: 2)
            guard offset >= 8, offset < size else { continue }
            guard let payload = payload(at: start + offset + (isLeaf ? 0 : 4), end: start + size, &budget) else { continue }
            if let texts = SQLitePages(payload: payload).texts() { records.append(texts) }
        }
        return records
    }

    /// The bytes of the record at `place` on a page that ends at `end`, including its overflow pages.
    private func payload(at place: Int, end: Int, _ budget: inout Int) -> [UInt8]? {
        var place = place
        guard let length = variable(&place, end: end), length <= min(bytes.count, Self.lengthLimit) else { return nil }
        let (most, least) = ((usable - 12) * 64 / 255 - 23, (usable - 12) * 32 / 255 - 23)
        let kept = least + (length - least) % (usable - 4)
        let local = length <= most ? length : kept <= most ? kept : least
        guard local >= 0, place + local <= end, length <= budget else { return nil }
        var payload = Array(bytes[place..<place + local])
        defer { budget -= payload.count }
        if local < length {
            guard place + local + 4 <= end else { return nil }
            var next = number(place + local, bytes: 4)
            while payload.count < length {
                // A cycle of pages ends here too: each turn consumes bytes of the length, which is limited.
                guard next >= 1, next <= bytes.count / size else { return nil }
                let start = (next - 1) * size
                payload += bytes[start + 4..<start + 4 + min(usable - 4, length - payload.count)]
                next = number(start, bytes: 4)
            }
        }
        return payload
    }

    private init(payload: [UInt8]) {
        bytes = payload
        size = max(payload.count, 1)
        usable = payload.count
    }

    /// The columns of a record that occupies all the bytes; `nil` if one is not text or a byte is left over.
    private func texts() -> [String]? {
        var place = 0
        guard let header = variable(&place, end: bytes.count), header <= bytes.count else { return nil }
        var lengths: [Int] = []
        while place < header {
            guard let type = variable(&place, end: header), type >= 13, type % 2 == 1 else { return nil }
            lengths.append((type - 13) / 2)
        }
        var texts: [String] = []
        for length in lengths {
            guard length <= bytes.count - place, let text = String(validating: bytes[place..<place + length], as: UTF8.self) else {
                return nil
            }
            texts.append(text)
            place += length
        }
        return place == bytes.count ? texts : nil
    }

    /// The numbers of the free pages, counted from 0.
    private func freePages() -> Set<Int> {
        guard bytes.count >= 100, bytes.starts(with: Self.word) else { return [] }
        var free: Set<Int> = []
        var trunk = number(32, bytes: 4)
        while trunk >= 1, trunk <= bytes.count / size, free.insert(trunk - 1).inserted {
            let start = (trunk - 1) * size
            let count = min(number(start + 4, bytes: 4), (size - 8) / 4)
            for leaf in 0..<count { free.insert(number(start + 8 + 4 * leaf, bytes: 4) - 1) }
            trunk = number(start, bytes: 4)
        }
        return free
    }

    /// A big-endian number of this many bytes.
    private func number(_ place: Int, bytes count: Int) -> Int {
        guard place >= 0, place + count <= bytes.count else { return 0 }
        return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// A number of one to nine bytes; `nil` if it leaves the page or is too large for a length.
    private func variable(_ place: inout Int, end: Int) -> Int? {
        var value = 0
        for _ in 0..<5 {
            guard place < end, place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            value = value << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}

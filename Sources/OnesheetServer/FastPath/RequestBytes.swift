/// Eight bytes of a request, examined at once.
struct EightBytes {
    /// The highest bit of each byte that matches. The first match is exact; bytes behind it may be marked although they do not match.
    typealias Matches = UInt64

    private let word: UInt64

    fileprivate init(_ bytes: Span<UInt8>, at index: Int) {
        word = UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// - Parameter limit: at most 0x80.
    func below(_ limit: UInt8) -> Matches { (word &- Self.all(limit)) & ~word & Self.all(0x80) }

    /// - Parameter limit: less than 0x80.
    func above(_ limit: UInt8) -> Matches { ((word &+ Self.all(0x7F - limit)) | word) & Self.all(0x80) }

    func equal(to byte: UInt8) -> Matches {
        let difference = word ^ Self.all(byte)
        return (difference &- Self.all(1)) & ~difference & Self.all(0x80)
    }

    private static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
}

extension Span<UInt8> {
    /// Whether `text` begins at `start`.
    @inline(__always)
    func has(_ text: StaticString, at start: Int) -> Bool {
        guard start >= 0, count - start >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[start + index] != text.utf8Start[index] { return false }
        return true
    }

    /// Whether `text` begins with these bytes, or these bytes with `text`.
    func isBeginning(of text: StaticString) -> Bool {
        for index in 0..<Swift.min(count, text.utf8CodeUnitCount) where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// The index after the run of bytes from `start` that satisfy `condition`.
    func end(from start: Int, while condition: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, condition(self[end]) { end += 1 }
        return end
    }

    /// The same, eight bytes at a time.
    /// - Parameter stops: at least the bytes that do not satisfy `condition`.
    @inline(__always)
    func end(from start: Int, while condition: (UInt8) -> Bool, skipping stops: (EightBytes) -> EightBytes.Matches) -> Int {
        var end = start
        while true {
            while count - end >= 8 {
                let found = stops(EightBytes(self, at: end))
                end += found.trailingZeroBitCount / 8
                if found != 0 { break }
            }
            guard end < count, condition(self[end]) else { return end }
            end += 1
        }
    }

    /// Compares with `name`, which is in lower case and has only letters and hyphens, ignoring case.
    @inline(__always)
    func isName(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in 0..<count {
            // The bit turns capitals into small letters, but also a carriage return into a hyphen.
            guard self[index] > 0x20, self[index] | 0x20 == name.utf8Start[index] else { return false }
        }
        return true
    }
}

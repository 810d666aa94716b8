#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Byte-wise operations for text from outside.
///
/// Swift's own operations work on characters: a combining mark after a slash forms one character with it, which is not a slash, so
/// a search misses it. Other programs that parse the same text find it.
extension StringProtocol {
    /// Whether both texts have the same bytes.
    package func isExactly(_ other: some StringProtocol) -> Bool { hasSameBytes(as: other) }

    fileprivate func hasSameBytes(as other: some StringProtocol) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard left.count == right.count else { return false }
                guard let first = left.baseAddress, let second = right.baseAddress, !left.isEmpty else { return true }
                return memcmp(first, second, left.count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the text begins with the bytes of `word`.
    package func starts(withBytesOf word: some StringProtocol) -> Bool { utf8.starts(with: word.utf8) }

    /// Whether the text ends with the bytes of `word`.
    package func ends(withBytesOf word: some StringProtocol) -> Bool { utf8.reversed().starts(with: word.utf8.reversed()) }

    /// The first position of the ASCII character `separator`.
    package func firstIndex(ofMark separator: Unicode.Scalar) -> Index? { utf8.firstIndex(of: UInt8(ascii: separator)) }

    /// Whether the text contains the ASCII character `separator`.
    package func contains(mark separator: Unicode.Scalar) -> Bool { firstIndex(ofMark: separator) != nil }

    /// The first position of the bytes of `word`.
    package func firstRange(ofBytesOf word: String) -> Range<Index>? {
        guard let first = word.utf8.first else { return nil }
        var start = startIndex
        while let found = utf8[start...].firstIndex(of: first) {
            let next = utf8.index(after: found)
            if utf8[found...].starts(with: word.utf8) { return found..<utf8.index(found, offsetBy: word.utf8.count) }
            start = next
        }
        return nil
    }

    /// The text with ASCII letters in lower case and all others unchanged. In Swift, the lower case of the Kelvin sign is k.
    package func lowercasedASCII() -> String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension String {
    /// The same, compiled for strings alone: every lookup in a cache compares keys.
    package func isExactly(_ other: String) -> Bool { hasSameBytes(as: other) }
}

extension StringProtocol where SubSequence == Substring {
    /// The last position of the ASCII character `separator`.
    package func lastIndex(ofMark separator: Unicode.Scalar) -> Index? { self[...].utf8.lastIndex(of: UInt8(ascii: separator)) }

    /// The parts before and after the first `separator`; `nil` if there is none.
    package func cut(at separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
        firstIndex(ofMark: separator).map { (self[..<$0], self[utf8.index(after: $0)...]) }
    }

    /// The parts before and after the last `separator`; `nil` if there is none.
    package func cut(atLast separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
        lastIndex(ofMark: separator).map { (self[..<$0], self[utf8.index(after: $0)...]) }
    }

    /// The text without spaces, tabs and line ends of ASCII around it.
    package var trimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = utf8.drop(while: isSpace)
        return String(decoding: bytes.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    }

    /// The text without its first `count` bytes, which must be whole characters of UTF-8.
    package func dropFirst(bytes count: Int) -> Substring {
        self[(utf8.index(startIndex, offsetBy: count, limitedBy: endIndex) ?? endIndex)...]
    }

    /// The parts between the ASCII characters `separator`.
    package func pieces(
        at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        var pieces: [Substring] = []
        var rest = self[...]
        while pieces.count < maxSplits, let (before, after) = rest.cut(at: separator) {
            if !before.isEmpty || !omittingEmptySubsequences { pieces.append(before) }
            rest = after
        }
        if !rest.isEmpty || !omittingEmptySubsequences { pieces.append(rest) }
        return pieces
    }

    /// The text with each occurrence of the bytes of `word` replaced by `replacement`.
    package func replacing(bytesOf word: String, with replacement: String) -> String {
        var replaced = ""
        var rest = self[...]
        while let found = rest.firstRange(ofBytesOf: word) {
            replaced += rest[..<found.lowerBound]
            replaced += replacement
            rest = rest[found.upperBound...]
        }
        return replaced + rest
    }
}

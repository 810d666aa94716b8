internal import FoundationEssentials

/// Splits the bytes from a pipe into lines, in linear time for any number and length of lines.
struct LineBuffer {
    private var begun = Data()

    /// The bytes of the incomplete line.
    var rest: Int { begun.count }

    /// The lines that end in `data`, without their terminators. Omits empty lines.
    mutating func lines(after data: Data) -> [Data] {
        var lines: [Data] = []
        var start = data.startIndex
        while let end = data[start...].firstIndex(of: UInt8(ascii: "\n")) {
            begun += data[start..<end]
            if !begun.isEmpty { lines.append(begun) }
            begun = Data()
            start = end + 1
        }
        begun += data[start...]
        return lines
    }

    /// Ends the incomplete line.
    /// - Returns: the line; `nil` if it is empty.
    mutating func cut() -> Data? {
        defer { begun = Data() }
        return begun.isEmpty ? nil : begun
    }
}

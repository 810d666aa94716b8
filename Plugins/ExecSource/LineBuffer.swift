internal import FoundationEssentials

/// Puts what comes through a pipe together to lines. Each byte is looked at once and moved once or twice, however many lines there are
/// and however long one is.
struct LineBuffer {
    private var begun = Data()

    /// Bytes of the line that has not ended.
    var rest: Int { begun.count }

    /// The lines that end in `data`, without their ends. Empty ones are left out: they say nothing.
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
}

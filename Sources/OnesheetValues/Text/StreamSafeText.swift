/// Text in which no more than 30 combining marks follow each other: the Stream-Safe Text Format (UAX #15 §13). No language needs as many.
///
/// Swift compares, hashes and matches Strings by their canonical form. For that it sorts each run of marks, in time that grows with the square
/// of its length: each comparison of 16 KB of marks takes 30 ms. So each reader of outside text refuses longer runs or divides them.
extension String {
    private static let mostMarks = 30

    /// Whether the text has this format.
    package var isStreamSafe: Bool { endsOfRuns(1).isEmpty }

    /// Whether an address may have this text, however it is written there: it has this format and no control characters.
    package var isSafeInAddresses: Bool {
        isStreamSafe && !unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// The text in this format: U+034F, which shows nothing, follows each 30 marks in a row.
    package var streamSafe: String {
        let ends = endsOfRuns(.max)
        guard !ends.isEmpty else { return self }
        var scalars = String.UnicodeScalarView()
        var start = unicodeScalars.startIndex
        for end in ends {
            scalars += unicodeScalars[start..<end]
            scalars.append("\u{34F}")
            start = end
        }
        scalars += unicodeScalars[start...]
        return String(scalars)
    }

    /// The places before each 31st mark in a row.
    /// - Parameter most: looks for no more.
    private func endsOfRuns(_ most: Int) -> [Index] {
        // The first mark is U+0300, whose first byte is 0xCC.
        guard utf8.count > Self.mostMarks, utf8.contains(where: { $0 >= 0xCC }) else { return [] }
        var (ends, run) = ([Index](), 0)
        for index in unicodeScalars.indices {
            guard unicodeScalars[index].isMark else {
                run = 0
                continue
            }
            run += 1
            if run > Self.mostMarks {
                ends.append(index)
                guard ends.count < most else { break }
                run = 1
            }
        }
        return ends
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is, or decomposes into, marks that are put into a canonical order.
    fileprivate var isMark: Bool {
        switch value {
        // Most text, without a look into the tables: Latin, ideographs and Hangul syllables.
        case ..<0x300, 0x3400...0x9FFF, 0xAC00...0xD7A3: false
        // They decompose into marks, and are none themselves.
        case 0xF73, 0xF75, 0xF81: true
        default: properties.canonicalCombiningClass != .notReordered
        }
    }
}

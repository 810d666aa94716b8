import OnesheetCore

/// An ICC profile (ISO 15076-1) from which a conversion can be made in bounded time and memory.
///
/// Little CMS samples a profile at 33³ or 17⁴ colours, each of which passes every stage of its tables. Only a
/// `multiProcessElementsType` can have thousands of stages. The tags D2Bx and B2Dx hold it; they are floating-point alternatives to
/// tags that every profile has (§8.2), and are removed. The rest has five stages at most: a grid with curves and a matrix around
/// it. Tables whose grids are larger than their bytes are removed too if pixels are not converted with them.
struct LimitedProfile {
    /// The profile for Little CMS.
    let bytes: [UInt8]

    /// The most tags that Little CMS accepts. This type refuses more too.
    private static let mostTags = 100
    private static let head = 128

    /// `nil` if the profile is too large, does not describe pixels, or has a table for them that exceeds its bytes.
    init?(_ profile: [UInt8]) {
        guard profile.count >= Self.head + 4, profile.count <= ImageHeader.largestProfile else { return nil }
        let reader = Reader(bytes: profile)
        // Input, display and output devices, and colour spaces. Not device links, abstract profiles and named colours (§7.2.5).
        guard ["scnr", "mntr", "prtr", "spac"].contains(reader.name(at: 12)) else { return nil }
        let count = reader.long(at: Self.head)
        guard count <= Self.mostTags, Self.head + 4 + count * 12 <= profile.count else { return nil }
        var bytes = profile
        for index in 0..<count {
            let place = Self.head + 4 + index * 12
            let name = reader.name(at: place)
            let isUsable =
                switch name.prefix(3) {
                case "D2B", "B2D": false
                case "A2B", "B2A": reader.fits(at: reader.long(at: place + 4), size: reader.long(at: place + 8))
                default: true
                }
            // Little CMS converts with one of these, and with nothing else if they are damaged.
            if !isUsable, name == "A2B0" || name == "A2B1" { return nil }
            // A name that Little CMS does not look up and no other tag has.
            if !isUsable { bytes.replaceSubrange(place..<place + 4, with: [0, 0, 0, UInt8(index)]) }
        }
        self.bytes = bytes
    }

    /// Big-endian numbers.
    private struct Reader {
        let bytes: [UInt8]

        func long(at place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        func short(at place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }
        func name(at place: Int) -> String { String(decoding: bytes[place..<place + 4], as: UTF8.self) }

        /// Whether a table (§10.10 to §10.13) has at most four inputs and outputs, and a grid within its bytes.
        func fits(at start: Int, size: Int) -> Bool {
            guard size >= 32, start <= bytes.count, size <= bytes.count - start else { return false }
            let (inputs, outputs) = (Int(bytes[start + 8]), Int(bytes[start + 9]))
            guard (1...4).contains(inputs), (1...4).contains(outputs) else { return false }
            func grid(_ sides: [Int], _ sampleBytes: Int) -> Int { sides.reduce(outputs * sampleBytes, *) }
            let sides = [Int](repeating: Int(bytes[start + 10]), count: inputs)
            switch name(at: start) {
            case "mft1": return 48 + 256 * (inputs + outputs) + grid(sides, 1) <= size
            case "mft2":
                guard size >= 52 else { return false }
                let curves = short(at: start + 48) * inputs + short(at: start + 50) * outputs
                return 52 + 2 * curves + grid(sides, 2) <= size
            case "mAB ", "mBA ":
                let table = long(at: start + 24)
                if table == 0 { return true }
                guard table <= size - 20 else { return false }
                let sides = bytes[start + table..<start + table + inputs].map { Int($0) }
                return table + 20 + grid(sides, bytes[start + table + 16] == 1 ? 1 : 2) <= size
            default: return false
            }
        }
    }
}

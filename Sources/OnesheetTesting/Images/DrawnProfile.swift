/// Generated ICC profiles (ISO 15076-1, version 2).
public enum DrawnProfile {
    /// RGB with a power curve; primaries as CIE XYZ under D50: red, green and blue.
    public static func rgb(gamma: Double, red: [Double], green: [Double], blue: [Double]) -> [UInt8] {
        let curve = curve(gamma)
        return profile(
            space: "RGB ", connection: "XYZ ", kind: "mntr",
            [
                ("wtpt", xyz(d50)), ("rXYZ", xyz(red)), ("gXYZ", xyz(green)), ("bXYZ", xyz(blue)), ("rTRC", curve), ("gTRC", curve),
                ("bTRC", curve),
            ])
    }

    /// Display P3 with a power of 2.2.
    public static let displayP3 = rgb(
        gamma: 2.2, red: [0.5151, 0.2412, -0.0011], green: [0.2920, 0.6922, 0.0419], blue: [0.1571, 0.0666, 0.7841])

    /// sRGB with a power of 1.0: linear light.
    public static let linearSRGB = rgb(
        gamma: 1, red: [0.4361, 0.2225, 0.0139], green: [0.3851, 0.7169, 0.0971], blue: [0.1431, 0.0606, 0.7141])

    /// sRGB with its curve in a table of 1024 points.
    public static let sRGB: [UInt8] = {
        let points = (0..<1024).map { index -> Double in
            let value = Double(index) / 1023
            return value <= 0.04045 ? value / 12.92 : power24((value + 0.055) / 1.055)
        }
        let curve = Array("curv".utf8) + long(0) + long(points.count) + points.flatMap { short(Int(($0 * 65535).rounded())) }
        return profile(
            space: "RGB ", connection: "XYZ ", kind: "mntr",
            [
                ("wtpt", xyz(d50)), ("rXYZ", xyz([0.4361, 0.2225, 0.0139])), ("gXYZ", xyz([0.3851, 0.7169, 0.0971])),
                ("bXYZ", xyz([0.1431, 0.0606, 0.7141])), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
            ])
    }()

    /// Gray with a power curve.
    public static func gray(gamma: Double) -> [UInt8] {
        profile(space: "GRAY", connection: "XYZ ", kind: "mntr", [("wtpt", xyz(d50)), ("kTRC", curve(gamma))])
    }

    /// Inks of which only black is visible: lightness falls linearly with it.
    public static let blackOnly: [UInt8] = {
        let identity = (0..<256).map(UInt8.init)
        // lut8Type: four inputs, three outputs, a grid of two points in each direction, the last input fastest.
        var table = Array("mft1".utf8) + long(0) + [4, 3, 2, 0]
        table += [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap { long($0 << 16) }
        table += (0..<4).flatMap { _ in identity }
        for corner in 0..<16 { table += [corner % 2 == 1 ? 0 : 255, 128, 128] }
        table += (0..<3).flatMap { _ in identity }
        return profile(space: "CMYK", connection: "Lab ", kind: "prtr", [("wtpt", xyz(d50)), ("A2B0", table)])
    }()

    /// Display P3 with an equivalent in `stages` identity matrices (multiProcessElementsType, ISO 15076-1 §10.16), in floating
    /// point.
    public static func displayP3(stages: Int) -> [UInt8] {
        let one = [0x3F, 0x80, 0, 0] as [UInt8]
        let zero = [0, 0, 0, 0] as [UInt8]
        let matrix =
            Array("matf".utf8) + long(0) + short(3) + short(3)
            + [one, zero, zero, zero, one, zero, zero, zero, one, zero, zero, zero].flatMap { $0 }
        let place = long(16 + 8 * stages) + long(matrix.count)
        let elements =
            Array("mpet".utf8) + long(0) + short(3) + short(3) + long(stages)
            + Array([[UInt8]](repeating: place, count: stages).joined()) + matrix
        let curve = curve(2.2)
        var profile = profile(
            space: "RGB ", connection: "XYZ ", kind: "mntr",
            [
                ("wtpt", xyz(d50)), ("D2B0", elements), ("D2B1", elements), ("rXYZ", xyz([0.5151, 0.2412, -0.0011])),
                ("gXYZ", xyz([0.2920, 0.6922, 0.0419])), ("bXYZ", xyz([0.1571, 0.0666, 0.7841])), ("rTRC", curve),
                ("gTRC", curve), ("bTRC", curve),
            ])
        // Version 4.3, the first with such elements.
        (profile[8], profile[9]) = (4, 0x30)
        return profile
    }

    private static let d50 = [0.9642, 1.0, 0.8249]

    private static func profile(space: String, connection: String, kind: String, _ tags: [(String, [UInt8])]) -> [UInt8] {
        var (table, data) = (long(tags.count), [UInt8]())
        let start = 128 + 4 + tags.count * 12
        for (name, value) in tags {
            table += Array(name.utf8) + long(start + data.count) + long(value.count)
            data += value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        var header = [UInt8](repeating: 0, count: 128)
        func put(_ bytes: [UInt8], at place: Int) { header.replaceSubrange(place..<place + bytes.count, with: bytes) }
        put(long(start + data.count), at: 0)
        put([2, 0x10, 0, 0] + Array((kind + space + connection).utf8), at: 8)
        put(Array("acsp".utf8), at: 36)
        put(d50.flatMap { fixed($0) }, at: 68)
        return header + table + data
    }

    private static func curve(_ gamma: Double) -> [UInt8] {
        Array("curv".utf8) + long(0) + long(1) + short(Int((gamma * 256).rounded())) + [0, 0]
    }

    private static func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ ".utf8) + long(0) + values.flatMap { fixed($0) } }
    private static func fixed(_ value: Double) -> [UInt8] { long(Int((value * 65536).rounded())) }
    private static func long(_ value: Int) -> [UInt8] { short(value >> 16 & 0xFFFF) + short(value & 0xFFFF) }
    private static func short(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }

    /// The power 2.4 without a mathematics library: x² · (x^(1/5))², the root by Newton's method.
    private static func power24(_ base: Double) -> Double {
        var root = 1.0
        for _ in 0..<60 { root -= (root * root * root * root * root - base) / (5 * root * root * root * root) }
        return base * base * root * root
    }
}

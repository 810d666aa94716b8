import OnesheetCore

/// A perceptual hash of 64 bits: a difference hash. The picture is reduced to 9 × 8 grays, and each bit tells whether a place is
/// darker than its right neighbour. Copies of a picture in other sizes or qualities differ in a few bits, different pictures in
/// about 32.
package struct PerceptualHash: Sendable, Hashable {
    package let bits: UInt64

    package init(bits: UInt64) { self.bits = bits }

    /// Parses sixteen hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 16, text.allSatisfy(\.isHexDigit), let bits = UInt64(text, radix: 16) else { return nil }
        self.init(bits: bits)
    }

    /// The number of different bits.
    package func distance(to other: Self) -> Int { (bits ^ other.bits).nonzeroBitCount }

    /// Whether both are of the same picture: scaled or compressed copies differ in fewer bits than this.
    package func isSamePicture(as other: Self) -> Bool { distance(to: other) <= 5 }
}

extension PerceptualHash: CustomStringConvertible {
    package var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension PerceptualHash {
    /// - Parameter picture: 9 × 8 pixels in packed RGB, with or without alpha.
    init(_ picture: borrowing PixelBuffer) {
        let channels = picture.layout.planes[0].channels
        var bits: UInt64 = 0
        for y in 0..<8 {
            picture.withRow(y) { row in
                // Rec. 601, in thousandths. Transparent pixels are over a middle gray, on which both black and white logos can be seen.
                func luma(_ x: Int) -> Int {
                    let opaque = 299 * Int(row[x * channels]) + 587 * Int(row[x * channels + 1]) + 114 * Int(row[x * channels + 2])
                    guard channels == 4 else { return opaque }
                    let alpha = Int(row[x * channels + 3])
                    return (opaque * alpha + 128_000 * (255 - alpha)) / 255
                }
                for x in 0..<8 { bits = bits << 1 | (luma(x) < luma(x + 1) ? 1 : 0) }
            }
        }
        self.init(bits: bits)
    }
}

/// An opaque sRGB colour.
public struct Color: Hashable, Sendable, CustomStringConvertible {
    public let red: UInt8
    public let green: UInt8
    public let blue: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    public static let white = Color(red: 255, green: 255, blue: 255)
    public static let black = Color(red: 0, green: 0, blue: 0)

    public var description: String { "\(red),\(green),\(blue)" }
}

extension Color {
    /// `#rrggbb`, in lower case.
    public var hexadecimal: String { "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Reads `#rrggbb`.
    public init?(hexadecimal text: String) {
        let digits = text.dropFirst()
        guard text.hasPrefix("#"), digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let bits = UInt32(digits, radix: 16)
        else { return nil }
        self.init(
            red: UInt8(truncatingIfNeeded: bits >> 16), green: UInt8(truncatingIfNeeded: bits >> 8),
            blue: UInt8(truncatingIfNeeded: bits))
    }
}

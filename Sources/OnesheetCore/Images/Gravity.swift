/// The part of a picture to keep when not all of it fits.
public enum Gravity: Hashable, Sendable {
    /// A point of the compass: -1, 0 or 1 from left to right and from top to bottom.
    case compass(x: Int, y: Int)
    /// The point at these fractions of width and height, from the upper left corner.
    case focus(x: Double, y: Double)
    /// An offset in pixels to the right of and below the picture's upper left corner.
    case corner(x: Int, y: Int)
    /// The part that attracts attention.
    case smart

    public static let center = Gravity.compass(x: 0, y: 0)
}

extension Gravity: CustomStringConvertible {
    public var description: String {
        switch self {
        case .compass(let x, let y): "\(x),\(y)"
        case .focus(let x, let y): "fp,\(x),\(y)"
        case .corner(let x, let y): "at,\(x),\(y)"
        case .smart: "sm"
        }
    }
}

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
    /// A point of the compass, moved away from the sides that it names, or right and down from the middle. Offsets are pixels of the
    /// cropped picture or of the canvas; those below 1 are fractions of its sides.
    case offset(x: Int, y: Int, across: Double, down: Double)
    /// A point in pixels of the picture before it is resized.
    case point(x: Double, y: Double)

    public static let center = Gravity.compass(x: 0, y: 0)
}

extension Gravity: CustomStringConvertible {
    public var description: String {
        switch self {
        case .compass(let x, let y): "\(x),\(y)"
        case .focus(let x, let y): "fp,\(x),\(y)"
        case .corner(let x, let y): "at,\(x),\(y)"
        case .smart: "sm"
        case .offset(let x, let y, let across, let down): "\(x),\(y)+\(across),\(down)"
        case .point(let x, let y): "pt,\(x),\(y)"
        }
    }
}

extension Gravity {
    /// The gravity as arguments of an option.
    var option: String {
        switch self {
        case .smart: "sm"
        case .focus(let x, let y): "fp:\(x):\(y)"
        case .corner(let x, let y): "nowe:\(x):\(y)"
        case .point(let x, let y): "pt:\(x):\(y)"
        case .compass(let x, let y): Self.name(x, y)
        case .offset(let x, let y, let across, let down): "\(Self.name(x, y)):\(across):\(down)"
        }
    }

    private static func name(_ x: Int, _ y: Int) -> String {
        String(OptionArguments.compass.first { $0.value == (x, y) }?.key ?? "ce")
    }

    /// This gravity if it has offsets in pixels, otherwise `nil`: the others mean the same at any size.
    var ofOriginal: Gravity? {
        switch self {
        case .corner, .offset: self
        case .compass, .focus, .smart, .point: nil
        }
    }

    /// The same gravity for a picture that is `ratio` times as large. Offsets below 1 are fractions and do not change.
    func scaled(by ratio: Double) -> Gravity {
        func scaled(_ offset: Double) -> Double { abs(offset) < 1 ? offset : offset * ratio }
        switch self {
        case .corner(let x, let y):
            return .corner(x: Int(saturating: (Double(x) * ratio).rounded()), y: Int(saturating: (Double(y) * ratio).rounded()))
        case .offset(let x, let y, let across, let down):
            return .offset(x: x, y: y, across: scaled(across), down: scaled(down))
        case .compass, .focus, .smart, .point: return self
        }
    }
}

public import OnesheetCore

/// The poster sizes that film apps know: widths in pixels, and the original.
public enum SizeLadder {
    /// The widths, in pixels, in ascending order.
    public static let widths = [92, 154, 185, 342, 500, 780]
    /// What the sizes are called in paths: `w342`, and `original`.
    public static let names = widths.map { "w\($0)" } + ["original"]

    /// The size that asks for `transform`, its format aside; `nil` where none does.
    public static func name(of transform: Transform) -> String? {
        var rest = transform
        rest.format = nil
        if rest == Transform() { return "original" }
        guard widths.contains(rest.width) else { return nil }
        let name = "w\(rest.width)"
        rest.width = 0
        return rest == Transform() ? name : nil
    }

    /// Every size's transform by its name.
    package static var all: [String: Transform] {
        var all = ["original": Transform()]
        for width in widths { all["w\(width)", default: Transform()].width = width }
        return all
    }

    /// The transform that a size's name stands for.
    /// - Throws: `RequestError.unknown` with the nearest name.
    public static func transform(_ name: some StringProtocol) throws(RequestError) -> Transform {
        var transform = Transform()
        if name == "original" { return transform }
        guard let width = widths.first(where: { name == "w\($0)" }) else {
            throw .unknown(unknownName(String(name), kind: "size", known: names))
        }
        transform.width = width
        return transform
    }
}

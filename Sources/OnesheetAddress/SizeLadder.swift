public import OnesheetValues

/// The standard poster sizes of film apps: widths in pixels, and `original`.
public enum SizeLadder {
    /// The widths in pixels, in ascending order.
    public static let widths = [92, 154, 185, 342, 500, 780]
    /// The names of the sizes in paths: `w342`, and `original`.
    public static let names = widths.map { "w\($0)" } + ["original"]

    /// The name of the size with this transform, ignoring its format. `nil` if no size has it.
    public static func name(of transform: Transform) -> String? {
        var rest = transform
        rest.format = nil
        if rest == Transform() { return "original" }
        guard widths.contains(rest.width) else { return nil }
        let name = "w\(rest.width)"
        rest.width = 0
        return rest == Transform() ? name : nil
    }

    /// The transforms of all sizes by name.
    package static var all: [String: Transform] {
        var all = ["original": Transform()]
        for width in widths { all["w\(width)", default: Transform()].width = width }
        return all
    }

    /// The transform of a size.
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

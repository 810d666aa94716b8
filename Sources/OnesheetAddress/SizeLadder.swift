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
        (rest.format, rest.isForAllClients) = (nil, false)
        // `original` always keeps the original's format.
        if rest == Transform() { return transform.isForAllClients ? nil : "original" }
        guard widths.contains(rest.width) else { return nil }
        let name = "w\(rest.width)"
        rest.width = 0
        return rest == Transform() ? name : nil
    }

    /// The name of the smallest size that is sharp at a width on a screen: at least `width` × `scale` pixels wide.
    /// - Parameters:
    ///   - width: in points, or in CSS pixels.
    ///   - scale: the pixels of each point: 2 or 3 on most screens.
    ///   - allowsOriginal: whether `original` is the size of widths beyond the widest one. Without it, the widest one is: an original can
    ///     have many megabytes.
    public static func name(forWidth width: Double, scale: Double = 1, allowsOriginal: Bool = false) -> String {
        if let enough = widths.first(where: { Double($0) >= width * scale }) { return "w\(enough)" }
        return allowsOriginal ? "original" : "w\(widths[widths.count - 1])"
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

public import OnesheetValues

/// The standard sizes of film apps: widths or heights in pixels, and `original`. Each kind of image has a ladder of its own, and an address
/// may have any size of any of them.
public enum SizeLadder {
    /// The widths of posters in pixels, in ascending order.
    public static let widths = ImageKind.poster.sizes.map(\.width)
    /// The names of the sizes of posters in paths: `w342`, and `original`.
    public static let names = names(of: .poster)
    /// The sizes of all kinds.
    private static let every = Set(ImageKind.allCases.flatMap(\.sizes))

    /// The names of the sizes of a kind, and `original`.
    public static func names(of kind: ImageKind) -> [String] { kind.sizes.map(\.name) + ["original"] }

    /// The name of the size with this transform, ignoring its format. `nil` if the ladder of the kind has none.
    public static func name(of transform: Transform, for kind: ImageKind = .poster) -> String? {
        var rest = transform
        (rest.format, rest.isForAllClients) = (nil, false)
        // `original` always keeps the original's format.
        if rest == Transform() { return transform.isForAllClients ? nil : "original" }
        let size = kind.sizes.first { ($0.width, $0.height) == (rest.width, rest.height) }
        (rest.width, rest.height) = (0, 0)
        return rest == Transform() ? size?.name : nil
    }

    /// The name of the smallest size that is sharp at a width on a screen: at least `width` × `scale` pixels wide.
    /// - Parameters:
    ///   - width: in points, or in CSS pixels.
    ///   - scale: the pixels of each point: 2 or 3 on most screens.
    ///   - kind: the kind of the image.
    ///   - allowsOriginal: whether `original` is the size of widths beyond the widest one. Without it, the widest one is: an original can
    ///     have many megabytes.
    public static func name(
        forWidth width: Double, scale: Double = 1, of kind: ImageKind = .poster, allowsOriginal: Bool = false
    ) -> String {
        let sizes = kind.sizes
        // A height is that of a portrait, two by three.
        if let enough = sizes.first(where: { Double(max($0.width, $0.height * 2 / 3)) >= width * scale }) { return enough.name }
        return allowsOriginal ? "original" : sizes[sizes.count - 1].name
    }

    /// The transforms of all sizes of posters by name.
    package static var all: [String: Transform] {
        var all = ["original": Transform()]
        for width in widths { all["w\(width)", default: Transform()].width = width }
        return all
    }

    /// The transform of a size of any kind.
    /// - Throws: `RequestError.unknown` with the nearest name.
    public static func transform(_ name: some StringProtocol) throws(RequestError) -> Transform {
        var transform = Transform()
        if name == "original" { return transform }
        guard let size = every.first(where: { name == $0.name }) else {
            throw .unknown(unknown(String(name)))
        }
        (transform.width, transform.height) = (size.width, size.height)
        return transform
    }

    /// The error for a name that no size has, with the nearest size by its number: `w500` is like `w400` by its letters alone.
    private static func unknown(_ name: String) -> String {
        let known = every.map(\.name)
        guard let side = name.first, let number = Int(name.dropFirst()), number > 0 else {
            return unknownName(name, kind: "size", known: known + ["original"])
        }
        let distances = known.filter { $0.first == side }.compactMap { known in
            Int(known.dropFirst()).map { (distance: $0.distance(to: number).magnitude, name: known) }
        }
        guard let near = distances.min(by: { $0 < $1 }) else {
            return unknownName(name, kind: "size", known: known + ["original"])
        }
        return "unknown size “\(name)”; did you mean “\(near.name)”?"
    }
}

package import OnesheetCore

/// The poster sizes that film apps know: widths in pixels, and the original.
package enum SizeLadder {
    package static let widths = [92, 154, 185, 342, 500, 780]
    package static let names = widths.map { "w\($0)" } + ["original"]

    /// The transform that a size's name stands for.
    package static func transform(_ name: some StringProtocol) throws(RequestError) -> Transform {
        var transform = Transform()
        if name == "original" { return transform }
        guard let width = widths.first(where: { name == "w\($0)" }) else {
            throw .unknown(unknownName(String(name), kind: "size", known: names))
        }
        transform.width = width
        return transform
    }
}

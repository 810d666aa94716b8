package import OnesheetCore

extension Renderer {
    /// The size that `transform` makes of an upright picture.
    package static func size(of transform: Transform, width: Int, height: Int) -> (width: Int, height: Int) {
        let size = Plan(transform, width: width, height: height, orientation: .up).finalSize
        return (size.width, size.height)
    }
}

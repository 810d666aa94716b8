import OnesheetCore

/// The scale of a decoded picture, which shows the whole original.
struct PictureGeometry: Equatable {
    /// The picture's pixels per stored pixel.
    let scaleX: Double
    let scaleY: Double

    init(_ layout: PixelLayout, of header: ImageHeader) {
        scaleX = layout.exactWidth / Double(header.width)
        scaleY = layout.exactHeight / Double(header.height)
    }
}

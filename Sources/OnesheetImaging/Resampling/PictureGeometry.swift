import OnesheetCore

/// The position in the stored original of the pixels of a decoded picture, or of a variant that smaller ones are made from.
struct PictureGeometry: Equatable {
    /// The point in the stored original at the picture's upper left corner.
    var originX = 0.0
    var originY = 0.0
    /// The picture's pixels per stored pixel.
    var scaleX: Double
    var scaleY: Double
    /// The luma pixels by which the chroma planes start before the picture.
    var leadX = 0
    var leadY = 0

    /// The picture of a decoder: the whole original.
    init(_ layout: PixelLayout, of header: ImageHeader) {
        scaleX = layout.exactWidth / Double(header.width)
        scaleY = layout.exactHeight / Double(header.height)
    }

    /// The result of `plan`, not yet turned.
    init(_ plan: Plan, leadX: Int, leadY: Int) {
        originX = plan.region.x
        originY = plan.region.y
        scaleX = Double(plan.size.width) / plan.region.width
        scaleY = Double(plan.size.height) / plan.region.height
        self.leadX = leadX
        self.leadY = leadY
    }
}

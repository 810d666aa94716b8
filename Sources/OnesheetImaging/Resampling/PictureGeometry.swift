import OnesheetCore

/// Where the pixels of a decoded picture, or of a variant that smaller ones are made from, lie in the stored original.
struct PictureGeometry: Equatable {
    /// The stored original's point at the picture's upper left corner.
    var originX = 0.0
    var originY = 0.0
    /// The picture's pixels per stored pixel.
    var scaleX: Double
    var scaleY: Double
    /// Luma pixels by which the chroma planes begin before the picture does.
    var leadX = 0
    var leadY = 0

    /// A picture as a decoder delivers it: the whole original.
    init(_ layout: PixelLayout, of header: ImageHeader) {
        scaleX = layout.exactWidth / Double(header.width)
        scaleY = layout.exactHeight / Double(header.height)
    }

    /// A picture that `plan` has made, not yet turned.
    init(_ plan: Plan, leadX: Int, leadY: Int) {
        originX = plan.region.x
        originY = plan.region.y
        scaleX = Double(plan.size.width) / plan.region.width
        scaleY = Double(plan.size.height) / plan.region.height
        self.leadX = leadX
        self.leadY = leadY
    }
}

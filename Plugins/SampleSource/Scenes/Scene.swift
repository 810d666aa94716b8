/// What a poster shows.
enum Scene: Sendable {
    case mountains, sea, city, orbit, forest, rays, shapes, road, noir, lanterns, ridges, cut, contours, stairs

    /// Paints the scene onto the whole canvas.
    func paint(_ canvas: Canvas, _ palette: Palette, _ random: inout SeededRandom) {
        switch self {
        case .mountains: Landscapes.mountains(canvas, palette, &random)
        case .sea: Landscapes.sea(canvas, palette, &random)
        case .forest: Landscapes.forest(canvas, palette, &random)
        case .road: Landscapes.road(canvas, palette, &random)
        case .city: Nights.city(canvas, palette, &random)
        case .orbit: Nights.orbit(canvas, palette, &random)
        case .noir: Nights.noir(canvas, palette, &random)
        case .lanterns: Nights.lanterns(canvas, palette, &random)
        case .rays: Prints.rays(canvas, palette, &random)
        case .shapes: Prints.shapes(canvas, palette, &random)
        case .stairs: Prints.stairs(canvas, palette, &random)
        case .ridges: Prints.ridges(canvas, palette, &random)
        case .cut: Prints.cut(canvas, palette, &random)
        case .contours: Prints.contours(canvas, palette, &random)
        }
    }
}

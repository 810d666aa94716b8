/// The subject of a poster.
enum Scene: Sendable {
    case mountains, sea, city, orbit, forest, rays, shapes, road, noir, lanterns, ridges, cut, contours, stairs

    /// Paints the scene onto the whole canvas.
    func paint(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        switch self {
        case .mountains: Landscapes.mountains(on: canvas, palette, random: &random)
        case .sea: Landscapes.sea(on: canvas, palette, random: &random)
        case .forest: Landscapes.forest(on: canvas, palette, random: &random)
        case .road: Landscapes.road(on: canvas, palette, random: &random)
        case .city: Nights.city(on: canvas, palette, random: &random)
        case .orbit: Nights.orbit(on: canvas, palette, random: &random)
        case .noir: Nights.noir(on: canvas, palette, random: &random)
        case .lanterns: Nights.lanterns(on: canvas, palette, random: &random)
        case .rays: Prints.rays(on: canvas, palette, random: &random)
        case .shapes: Prints.shapes(on: canvas, palette, random: &random)
        case .stairs: Prints.stairs(on: canvas, palette, random: &random)
        case .ridges: Prints.ridges(on: canvas, palette, random: &random)
        case .cut: Prints.cut(on: canvas, palette, random: &random)
        case .contours: Prints.contours(on: canvas, palette, random: &random)
        }
    }
}

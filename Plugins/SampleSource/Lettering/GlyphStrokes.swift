/// The strokes of a letter in a box of height one; `width` is its width.
struct GlyphStrokes {
    var width: Float
    var strokes: [[Point]]

    /// Parses strokes such as `0,1 .5,0 1,1|.2,.6 .8,.6`: points in order, strokes separated by a bar. A stroke that begins with
    /// `~` is a smooth curve through its points; one that begins with `o` is closed.
    init(width: Float, _ text: String) {
        self.width = width
        strokes = text.split(separator: "|").map { stroke in
            let kind = stroke.first
            let points = stroke.drop { $0 == "~" || $0 == "o" }.split(separator: " ").map { pair -> Point in
                let numbers = pair.split(separator: ",").map { Float($0) ?? 0 }
                return Point(numbers.first ?? 0, numbers.last ?? 0)
            }
            switch kind {
            case "~": return Self.smooth(points, isClosed: false)
            case "o": return Self.smooth(points, isClosed: true)
            default: return points
            }
        }
    }

    /// The strokes scaled into a box.
    func placed(x: Float, y: Float, width: Float, height: Float) -> [[Point]] {
        strokes.map { $0.map { Point(x + $0.x * width, y + $0.y * height) } }
    }

    /// A Catmull-Rom spline through the points.
    private static func smooth(_ points: [Point], isClosed: Bool) -> [Point] {
        guard points.count > 2 else { return points }
        func at(_ index: Int) -> Point {
            isClosed ? points[(index + points.count) % points.count] : points[min(max(index, 0), points.count - 1)]
        }
        let spans = isClosed ? points.count : points.count - 1
        var curve: [Point] = []
        for span in 0..<spans {
            let (a, b, c, d) = (at(span - 1), at(span), at(span + 1), at(span + 2))
            for step in 0..<6 {
                let t = Float(step) / 6
                let linear = 2 * b + (c - a) * t
                let square = (2 * a - 5 * b + 4 * c - d) * (t * t)
                let cube = (3 * b - a - 3 * c + d) * (t * t * t)
                curve.append((linear + square + cube) * 0.5)
            }
        }
        curve.append(at(spans))
        return curve
    }
}

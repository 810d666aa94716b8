internal import FoundationEssentials
#if canImport(Glibc)
    internal import Glibc
#endif

/// Closed outlines. Overlapping outlines form one shape if they have the same orientation.
struct Path {
    private(set) var outlines: [[Point]] = []

    init() {}

    init(_ points: [Point]) { outlines = [points] }

    mutating func add(_ points: [Point]) { outlines.append(points) }
    mutating func add(_ other: Path) { outlines += other.outlines }

    static func circle(_ centre: Point, _ radius: Float) -> Path { ellipse(centre, Point(radius, radius)) }

    static func ellipse(_ centre: Point, _ radii: Point, turned angle: Float = 0) -> Path {
        let steps = 96
        let (c, s) = (cosf(angle), sinf(angle))
        return Path(
            (0..<steps).map { step in
                let turn = Float(step) / Float(steps) * 2 * .pi
                let (x, y) = (radii.x * cosf(turn), radii.y * sinf(turn))
                return centre + Point(x * c - y * s, x * s + y * c)
            })
    }

    static func rectangle(x: Float, y: Float, width: Float, height: Float) -> Path {
        Path([Point(x, y), Point(x + width, y), Point(x + width, y + height), Point(x, y + height)])
    }

    /// A sector of a disc between two angles, clockwise from three o'clock.
    static func slice(_ centre: Point, _ radius: Float, from: Float, to: Float) -> Path {
        let steps = max(2, Int(abs(to - from) * 24))
        return Path(
            [centre]
                + (0...steps).map { step in
                    let turn = from + (to - from) * Float(step) / Float(steps)
                    return centre + Point(cosf(turn), sinf(turn)) * radius
                })
    }

    /// The area below a curve from left to right with the height `y`.
    static func ground(steps: Int = 250, _ y: (Float) -> Float) -> Path {
        var points = [Point(1.02, 1.52), Point(-0.02, 1.52)]
        for step in 0...steps {
            let x = -0.02 + 1.04 * Float(step) / Float(steps)
            points.append(Point(x, y(x)))
        }
        return Path(points)
    }

    /// A line with round ends and corners.
    static func stroke(_ points: [Point], width: Float) -> Path {
        var path = Path()
        for (start, end) in zip(points, points.dropFirst()) { path.add(capsule(from: start, to: end, radius: width / 2)) }
        return path
    }

    /// Always the same orientation, so that neighbours join.
    private static func capsule(from start: Point, to end: Point, radius: Float) -> [Point] {
        let along = end - start
        let direction = atan2f(along.y, along.x)
        let steps = 8
        return (0...steps).map { step in
            let turn = direction - .pi / 2 + .pi * Float(step) / Float(steps)
            return end + Point(cosf(turn), sinf(turn)) * radius
        }
            + (0...steps).map { step in
                let turn = direction + .pi / 2 + .pi * Float(step) / Float(steps)
                return start + Point(cosf(turn), sinf(turn)) * radius
            }
    }
}

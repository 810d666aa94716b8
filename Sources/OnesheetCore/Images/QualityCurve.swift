/// The scale of an encoder beside that of JPEG, so that a quality is one look in every format.
///
/// The points are measured: `make bench-quality`.
package struct QualityCurve: Sendable {
    private let points: [(jpeg: Int, own: Int)]

    /// - Parameter points: qualities of JPEG in ascending order from 1 to 100, and those of the encoder that look the same.
    package init(_ points: [(jpeg: Int, own: Int)]) {
        precondition(points.first?.jpeg == 1 && points.last?.jpeg == 100, "a curve from 1 to 100")
        self.points = points
    }

    /// The encoder's quality for one of JPEG; from 1 to 100, whatever is asked.
    package func own(_ quality: Int) -> Int {
        let quality = min(max(quality, 1), 100)
        guard let end = points.firstIndex(where: { $0.jpeg >= quality }), end > 0 else { return points[0].own }
        let (from, to) = (points[end - 1], points[end])
        let steps = to.jpeg - from.jpeg
        return from.own + ((quality - from.jpeg) * (to.own - from.own) + steps / 2) / steps
    }
}

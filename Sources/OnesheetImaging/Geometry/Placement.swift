import OnesheetCore

extension Gravity {
    /// The position of a box of size `inner` in one of size `outer`, or of a picture on a larger canvas.
    func place(_ inner: Size, in outer: Size) -> (x: Int, y: Int) {
        switch self {
        case .compass(let x, let y):
            (Self.place(inner.width, in: outer.width, x), Self.place(inner.height, in: outer.height, y))
        case .focus(let x, let y):
            (Self.place(inner.width, in: outer.width, around: x), Self.place(inner.height, in: outer.height, around: y))
        case .corner(let x, let y):
            (min(max(x, 0), max(outer.width - inner.width, 0)), min(max(y, 0), max(outer.height - inner.height, 0)))
        case .offset(let x, let y, let across, let down):
            (
                Self.place(inner.width, in: outer.width, x, moved: across),
                Self.place(inner.height, in: outer.height, y, moved: down)
            )
        case .smart, .point:
            // Smart gravity has already been replaced by a focus; a canvas has no content to examine.
            Gravity.center.place(inner, in: outer)
        }
    }

    private static func place(_ inner: Int, in outer: Int, _ side: Int) -> Int {
        let room = max(outer - inner, 0)
        if side < 0 { return 0 }
        return side > 0 ? room : room / 2
    }

    /// - Parameter offset: the distance from the side, or from the middle to larger coordinates; below 1 a fraction of `outer`.
    private static func place(_ inner: Int, in outer: Int, _ side: Int, moved offset: Double) -> Int {
        let pixels = offset.isFinite ? (abs(offset) < 1 ? offset * Double(outer) : offset).rounded(.toNearestOrEven) : 0
        let moved = Double(place(inner, in: outer, side)) + (side > 0 ? -pixels : pixels)
        return Int(min(max(moved, 0), Double(max(outer - inner, 0))))
    }

    private static func place(_ inner: Int, in outer: Int, around share: Double) -> Int {
        // Clamp fractions that are outside the picture.
        let share = share.isFinite ? min(max(share, 0), 1) : 0.5
        let point = Int((Double(outer) * share).rounded(.toNearestOrEven))
        return min(max(point - inner / 2, 0), max(outer - inner, 0))
    }
}

/// A size in whole pixels.
struct Size: Equatable, Hashable, Sendable {
    var width: Int
    var height: Int
}

/// A part of a picture, with fractional pixels.
struct Rectangle: Equatable, Sendable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    init(_ point: (x: Int, y: Int), _ size: Size) {
        self.init(x: Double(point.x), y: Double(point.y), width: Double(size.width), height: Double(size.height))
    }
}

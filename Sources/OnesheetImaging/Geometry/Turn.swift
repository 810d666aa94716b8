import OnesheetCore

/// One of the eight ways to rotate and mirror a picture: sides swapped first, then mirrored.
struct Turn: Equatable, Sendable {
    /// Rows become columns.
    var transposes = false
    var mirrorsX = false
    var mirrorsY = false

    static let none = Turn()

    init(transposes: Bool = false, mirrorsX: Bool = false, mirrorsY: Bool = false) {
        self.transposes = transposes
        self.mirrorsX = mirrorsX
        self.mirrorsY = mirrorsY
    }

    /// The turn that makes a picture stored with `orientation` upright.
    init(_ orientation: Orientation) {
        switch orientation {
        case .up: self.init()
        case .upMirrored: self.init(mirrorsX: true)
        case .down: self.init(mirrorsX: true, mirrorsY: true)
        case .downMirrored: self.init(mirrorsY: true)
        case .leftMirrored: self.init(transposes: true)
        case .right: self.init(transposes: true, mirrorsX: true)
        case .rightMirrored: self.init(transposes: true, mirrorsX: true, mirrorsY: true)
        case .left: self.init(transposes: true, mirrorsY: true)
        }
    }

    /// This turn, and then `degrees` clockwise: multiples of 90.
    func rotated(_ degrees: Int) -> Turn {
        var turn = self
        for _ in 0..<(((degrees / 90) % 4 + 4) % 4) {
            turn = Turn(transposes: !turn.transposes, mirrorsX: !turn.mirrorsY, mirrorsY: turn.mirrorsX)
        }
        return turn
    }

    /// This turn, and then mirroring.
    func flipped(x: Bool, y: Bool) -> Turn {
        Turn(transposes: transposes, mirrorsX: mirrorsX != x, mirrorsY: mirrorsY != y)
    }

    /// The sides after turning.
    func size(_ size: Size) -> Size { transposes ? Size(width: size.height, height: size.width) : size }

    /// The position of `part` after the turn. `size` is the size of the stored picture.
    func done(_ part: Rectangle, in size: Size) -> Rectangle {
        let turned = self.size(size)
        var part = transposes ? Rectangle(x: part.y, y: part.x, width: part.height, height: part.width) : part
        if mirrorsX { part.x = Double(turned.width) - part.x - part.width }
        if mirrorsY { part.y = Double(turned.height) - part.y - part.height }
        return part
    }

    /// The position in the stored picture of a part of the turned one, whose size is `size`.
    func undone(_ part: Rectangle, in size: Size) -> Rectangle {
        var part = part
        if mirrorsX { part.x = Double(size.width) - part.x - part.width }
        if mirrorsY { part.y = Double(size.height) - part.y - part.height }
        return transposes ? Rectangle(x: part.y, y: part.x, width: part.height, height: part.width) : part
    }
}

import OnesheetCore
import OnesheetImaging

/// The drawing for an image that does not exist: the sign of an image on a dark ground, or that of a person for a portrait. A logo has no
/// ground.
struct DrawnFallback {
    /// Changes with the pixels.
    static let version = "drawn-1"

    private static let ink: [UInt8] = [0x8A, 0x93, 0xA3]
    private static let top = 0x32
    private static let bottom = 0x1E

    private let kind: ImageKind

    init(_ kind: ImageKind) { self.kind = kind }

    /// The sides in pixels: at least those of the largest step of the kind's ladder.
    private var sides: (width: Int, height: Int) {
        switch kind {
        case .poster, .season, .profile: (780, 1170)
        case .backdrop, .still: (1280, 720)
        case .logo: (780, 300)
        case .banner: (1280, 236)
        }
    }

    /// - Throws: `RenderError` if the limits of the server allow no such picture.
    func picture(within renderer: Renderer) throws(RenderError) -> PixelBuffer {
        let (width, height) = sides
        let layout = PixelLayout(width: width, height: height, model: .rgb, hasAlpha: kind == .logo)
        var picture = try renderer.picture(layout)
        let unit = Double(min(width, height))
        for y in 0..<height {
            let ground = UInt8(Self.top + (Self.bottom - Self.top) * y / height)
            let v = (Double(y) + 0.5 - Double(height) / 2) / unit
            picture.withMutableRow(y) { row in
                for x in 0..<width {
                    let isInk = abs(v) < 0.3 && isInk((Double(x) + 0.5 - Double(width) / 2) / unit, v)
                    let place = x * layout.planes[0].channels
                    for channel in 0..<3 { row[place + channel] = isInk ? Self.ink[channel] : ground }
                    if kind == .logo { row[place + 3] = isInk ? 255 : 0 }
                }
            }
        }
        return picture
    }

    /// Whether the sign covers a point, in units of the shorter side from the centre.
    private func isInk(_ x: Double, _ y: Double) -> Bool {
        kind == .profile ? Self.isPerson(x, y) : Self.isPicture(x, y)
    }

    /// A frame with a sun and two mountains.
    private static func isPicture(_ x: Double, _ y: Double) -> Bool {
        let (side, top) = (abs(x), abs(y))
        guard side < 0.26, top < 0.2 else { return false }
        guard side < 0.235, top < 0.175 else { return true }
        let isSun = (x + 0.12) * (x + 0.12) + (y + 0.08) * (y + 0.08) < 0.0016
        let isMountain = y < 0.14 && (y > -0.06 + 1.1 * abs(x - 0.06) || y > 0.03 + 1.1 * abs(x + 0.1))
        return isSun || isMountain
    }

    /// A head and shoulders.
    private static func isPerson(_ x: Double, _ y: Double) -> Bool {
        let isHead = x * x + (y + 0.1) * (y + 0.1) < 0.0121
        let isBody = y < 0.22 && x * x / 0.0484 + (y - 0.22) * (y - 0.22) / 0.0324 < 1
        return isHead || isBody
    }
}

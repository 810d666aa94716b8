/// Pixels to each side.
public struct PixelSize: Sendable, Hashable, Encodable {
    public let width: Int
    public let height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

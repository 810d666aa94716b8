import OnesheetAddress
import OnesheetCore
import OnesheetImaging

/// An image's `info.json` (IIIF Image API 3.0 §5).
struct IIIFDocument: Encodable {
    struct Size: Encodable {
        let width: Int
        let height: Int
    }

    struct Tiles: Encodable {
        let width: Int
        let scaleFactors: [Int]
    }

    static let context = "http://iiif.io/api/image/3/context.json"
    /// Pixels of a tile to each side.
    private static let tile = 512

    let context = Self.context
    let id: String
    let type = "ImageService3"
    let `protocol` = "http://iiif.io/api/image"
    let profile: String
    let width: Int
    let height: Int
    let maxArea: Int
    let sizes: [Size]?
    let tiles: [Tiles]?
    let extraFormats: [String]
    let extraQualities = ["color"]
    let extraFeatures: [String]?

    private enum CodingKeys: String, CodingKey {
        case context = "@context"
        case id, type, `protocol`, profile, width, height, maxArea, sizes, tiles, extraFormats, extraQualities, extraFeatures
    }

    /// - Parameters:
    ///   - formats: those that are written.
    ///   - isFree: whether any region and size is made; where presets are all that is, the whole picture alone is left: level 0.
    init(id: String, width: Int, height: Int, formats: [ImageFormat], isFree: Bool, maxArea: Int) {
        (self.id, self.width, self.height, self.maxArea) = (id, width, height, maxArea)
        profile = isFree ? "level1" : "level0"
        extraFormats = formats.compactMap(\.extensions.first).filter { ["png", "webp"].contains($0) }
        extraFeatures = isFree ? ["sizeByConfinedWh", "sizeByWh"] : nil
        guard isFree else {
            (sizes, tiles) = (nil, nil)
            return
        }
        sizes = (SizeLadder.widths.filter { $0 < width } + [width]).map { side in
            var transform = Transform()
            transform.width = side
            let size = Renderer.size(of: transform, width: width, height: height)
            return Size(width: size.width, height: size.height)
        }.filter { $0.width * $0.height <= maxArea }
        var factors = [1]
        while let last = factors.last, last * Self.tile < max(width, height) { factors.append(last * 2) }
        tiles = [Tiles(width: Self.tile, scaleFactors: factors)]
    }
}

import OnesheetCore

/// An image's `info.json` (IIIF Image API 3.0 §5).
struct IIIFDocument: Encodable {
    struct Tiles: Encodable {
        let width: Int
        let scaleFactors: [Int]
    }

    static let context = "http://iiif.io/api/image/3/context.json"
    /// The size of a tile in pixels.
    private static let tile = 512

    let context = Self.context
    let id: String
    let type = "ImageService3"
    let `protocol` = "http://iiif.io/api/image"
    let profile: String
    let width: Int
    let height: Int
    let maxArea: Int
    let sizes: [PixelSize]?
    let tiles: [Tiles]?
    let extraFormats: [String]
    let extraQualities: [String]
    let extraFeatures: [String]?

    private enum CodingKeys: String, CodingKey {
        case context = "@context"
        case id, type, `protocol`, profile, width, height, maxArea, sizes, tiles, extraFormats, extraQualities, extraFeatures
    }

    /// - Parameters:
    ///   - sizes: the sizes of the ladder, and last the original's.
    ///   - host: if it accepts only presets, the document offers the whole picture alone: level 0.
    init(id: String, sizes: [PixelSize], on host: DialectHost) {
        self.id = id
        width = sizes.last?.width ?? 0
        height = sizes.last?.height ?? 0
        maxArea = host.mostPixels
        // Level 2 has PNG, and each level has its features.
        let hasPNG = host.formats.contains(.png)
        profile = host.makesAnything ? hasPNG ? "level2" : "level1" : "level0"
        extraFormats = host.formats.compactMap(\.extensions.first).filter { ["png", "webp"].contains($0) }
        extraQualities = host.makesAnything ? ["color", "gray", "bitonal"] : ["color"]
        let features = hasPNG ? [] : ["regionByPct", "sizeByPct", "sizeByConfinedWh", "sizeByWh", "rotationBy90s"]
        extraFeatures = host.makesAnything ? features + ["mirroring"] : nil
        guard host.makesAnything else {
            self.sizes = nil
            tiles = nil
            return
        }
        self.sizes = sizes.filter { $0.width * $0.height <= host.mostPixels }
        var factors = [1]
        while let last = factors.last, last * Self.tile < max(width, height) { factors.append(last * 2) }
        tiles = [Tiles(width: Self.tile, scaleFactors: factors)]
    }
}

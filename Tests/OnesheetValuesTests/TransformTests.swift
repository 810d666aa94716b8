import OnesheetValues
import XCTest

final class TransformTests: XCTestCase {
    func testThatEachPropertyIsPartOfTheCacheKey() {
        // Given a change of each property of a transform
        var base = Transform()
        (base.width, base.height) = (100, 150)
        let png = ImageFormat(name: "png", mediaType: "image/png", extensions: ["png"], hasAlpha: true)
        let changes: [String: (inout Transform) -> Void] = [
            "resizing": { $0.resizing = .fill }, "width": { $0.width = 1 }, "height": { $0.height = 1 },
            "minWidth": { $0.minWidth = 1 }, "minHeight": { $0.minHeight = 1 }, "enlarges": { $0.enlarges = true },
            "extends": { $0.extends = .smart }, "extendsProportions": { $0.extendsProportions = .smart },
            "gravity": { $0.gravity = .smart }, "crop": { $0.crop = .init(width: 1, height: 1) },
            "trim": { $0.trim = .init(threshold: 1) }, "appliesOrientation": { $0.appliesOrientation = false },
            "zoomX": { $0.zoomX = 2 }, "zoomY": { $0.zoomY = 2 }, "rotation": { $0.rotation = 90 },
            "flipsHorizontally": { $0.flipsHorizontally = true }, "flipsVertically": { $0.flipsVertically = true },
            "padding": { $0.padding = .init(top: 1, right: 0, bottom: 0, left: 0) },
            "background": { $0.background = Color(red: 1, green: 2, blue: 3) }, "blur": { $0.blur = 1 },
            "sharpen": { $0.sharpen = 1 }, "format": { $0.format = png }, "pixelates": { $0.pixelates = 2 },
            "isGray": { $0.isGray = true }, "isBitonal": { $0.isBitonal = true },
            "watermark": { $0.watermark = .init(opacity: 1, digest: "d") }, "qualities": { $0.qualities = [png: 9] },
            "maxSourcePixels": { $0.maxSourcePixels = 1 },
            "maxSourceBytes": { $0.maxSourceBytes = 1 }, "quality": { $0.quality = 1 }, "maxBytes": { $0.maxBytes = 1 },
            "stripsMetadata": { $0.stripsMetadata = false }, "keepsCopyright": { $0.keepsCopyright = true },
            "convertsToSRGB": { $0.convertsToSRGB = false }, "isForAllClients": { $0.isForAllClients = true },
            "findsQuality": { $0.findsQuality = true }, "skips": { $0.skips = [png] }, "maxResultSide": { $0.maxResultSide = 1 },
        ]
        // Then none is missing here
        XCTAssertEqual(Set(changes.keys), Set(Mirror(reflecting: base).children.compactMap(\.label)))
        // And each gives another key
        let texts = changes.map { _, change in
            var transform = base
            change(&transform)
            return transform.canonicalText
        }
        XCTAssertEqual(Set(texts + [base.canonicalText]).count, changes.count + 1, "\(texts)")
    }
}

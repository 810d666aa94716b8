import OnesheetCore

/// The scaled size of a picture and the crop of the scaled one. The arithmetic is imgproxy's, because the options are imgproxy's.
struct Scaling: Equatable {
    /// The whole picture, scaled.
    var scaled: Size
    /// The crop.
    var result: Size

    init(_ size: Size, _ transform: Transform, reduction: Reduction? = nil) {
        let (width, height) = (Double(size.width), Double(size.height))
        var shrinkX = transform.width == 0 ? 1 : width / Double(transform.width)
        var shrinkY = transform.height == 0 ? 1 : height / Double(transform.height)
        let resizing = Self.resizing(transform, size)
        if resizing != .force {
            switch (transform.width, transform.height, resizing) {
            case (0, _, _): shrinkX = shrinkY
            case (_, 0, _): shrinkY = shrinkX
            case (_, _, .fit):
                shrinkX = max(shrinkX, shrinkY)
                shrinkY = shrinkX
            default:
                shrinkX = min(shrinkX, shrinkY)
                shrinkY = shrinkX
            }
        }
        (shrinkX, shrinkY) = (shrinkX / transform.zoomX, shrinkY / transform.zoomY)
        if !transform.enlarges {
            // The other side shrinks too, so that the requested proportions stay.
            if shrinkX < 1 { (shrinkX, shrinkY) = (1, shrinkY / shrinkX) }
            if shrinkY < 1 { (shrinkX, shrinkY) = (shrinkX / shrinkY, 1) }
        }
        if transform.minWidth > 0, width / Double(transform.minWidth) < shrinkX {
            let least = width / Double(transform.minWidth)
            (shrinkX, shrinkY) = (least, shrinkY * least / shrinkX)
        }
        if transform.minHeight > 0, height / Double(transform.minHeight) < shrinkY {
            let least = height / Double(transform.minHeight)
            (shrinkX, shrinkY) = (shrinkX * least / shrinkY, least)
        }
        scaled = Size(width: Self.pixels(width / shrinkX), height: Self.pixels(height / shrinkY))
        result = resizing == .cover ? scaled : Self.box(transform, scaled)
        guard let reduction else { return }
        func reduced(_ size: Size) -> Size {
            Size(width: max(reduction.of(size.width), 1), height: max(reduction.of(size.height), 1))
        }
        (scaled, result) = (reduced(scaled), reduced(result))
    }

    /// The way of resizing: `auto` depends on the picture.
    private static func resizing(_ transform: Transform, _ size: Size) -> Transform.Resizing {
        guard transform.resizing == .auto else { return transform.resizing }
        return (size.width < size.height) == (transform.width < transform.height) ? .fill : .fit
    }

    /// The requested box, in which 0 stands for the whole side, no larger than the picture.
    private static func box(_ transform: Transform, _ scaled: Size) -> Size {
        func zoomed(_ side: Int, _ zoom: Double) -> Int { side == 0 || zoom == 1 ? side : pixels(Double(side) * zoom) }
        var (width, height) = (zoomed(transform.width, transform.zoomX), zoomed(transform.height, transform.zoomY))
        if transform.resizing == .fillDown, width > 0, height > 0 {
            let (widening, heightening) = (Double(width) / Double(scaled.width), Double(height) / Double(scaled.height))
            if widening > heightening, widening > 1 {
                height = pixels(Double(scaled.width) * Double(height) / Double(width))
                width = scaled.width
            } else if heightening > widening, heightening > 1 {
                width = pixels(Double(scaled.height) * Double(width) / Double(height))
                height = scaled.height
            }
        }
        return Size(
            width: width == 0 ? scaled.width : min(width, scaled.width),
            height: height == 0 ? scaled.height : min(height, scaled.height))
    }

    /// A whole number of pixels, at least one, and small enough for arithmetic.
    private static func pixels(_ length: Double) -> Int {
        Int(min(max(length.rounded(.toNearestOrEven), 1), 1e9))
    }
}

/// Reduces a picture and what is around it so that the longest side of all is `limit`.
struct Reduction: Equatable {
    let longest: Int
    let limit: Int

    /// The reduced length. Rounds down, so that no sum of sides is longer than allowed.
    func of(_ side: Int) -> Int {
        let (product, overflow) = side.multipliedReportingOverflow(by: limit)
        return overflow ? limit : product / longest
    }
}

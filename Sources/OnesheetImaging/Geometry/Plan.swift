import OnesheetCore

/// The origin of each pixel of a variant: a transform applied to the size of one original.
struct Plan: Equatable {
    /// The part of the stored picture to resample, in its own pixels.
    var region: Rectangle
    /// The part that the resampler may read: the picture, or the crop before resizing.
    var bounds: Rectangle
    /// The size of the resampled `region`, in the stored orientation.
    var size: Size
    var turn: Turn
    /// The canvas around the turned picture and the picture's position on it; `nil` if there is none.
    var canvas: Canvas?

    struct Canvas: Equatable {
        var size: Size
        var x: Int
        var y: Int
    }

    /// Pixels of the variant.
    var finalSize: Size { canvas?.size ?? turn.size(size) }

    /// - Precondition: `.smart` gravity has been replaced, because it needs the pixels. It counts as the centre.
    init(_ transform: Transform, width: Int, height: Int, orientation: Orientation) {
        self.init(transform, width: width, height: height, orientation: orientation, reduction: nil)
        let longest = max(finalSize.width, finalSize.height)
        guard transform.maxResultSide > 0, longest > transform.maxResultSide else { return }
        self.init(
            transform, width: width, height: height, orientation: orientation,
            reduction: Reduction(longest: longest, limit: transform.maxResultSide))
    }

    /// - Parameter reduction: of the picture and its canvas.
    private init(_ transform: Transform, width: Int, height: Int, orientation: Orientation, reduction: Reduction?) {
        let stored = Size(width: width, height: height)
        let upright = Turn(orientation, of: transform)
        let whole = upright.size(stored)

        let cut = Self.cut(transform, whole)
        bounds = upright.undone(cut, in: whole)

        // The picture before resizing: cropped, rotated, flipped.
        let turn = upright.after(transform)
        let standing = turn.size(Size(width: Int(bounds.width), height: Int(bounds.height)))
        let scaling = Scaling(standing, transform, reduction: reduction)
        let gravity = transform.gravity.seen(through: Turn.none.after(transform), from: cut)
        let place = gravity.place(scaling.result, in: scaling.scaled)
        region = bounds
        if scaling.result != scaling.scaled {
            let scaleX = Double(standing.width) / Double(scaling.scaled.width)
            let scaleY = Double(standing.height) / Double(scaling.scaled.height)
            region = turn.undone(
                Rectangle(
                    x: Double(place.x) * scaleX, y: Double(place.y) * scaleY, width: Double(scaling.result.width) * scaleX,
                    height: Double(scaling.result.height) * scaleY), in: standing)
            region.x += bounds.x
            region.y += bounds.y
        }
        self.turn = turn
        size = turn.size(scaling.result)
        canvas = Self.canvas(transform, scaling.result, reduction: reduction)
    }

    /// The result of `crop`, in the upright picture.
    static func cut(_ transform: Transform, _ whole: Size) -> Rectangle {
        guard let crop = transform.crop else { return Rectangle((0, 0), whole) }
        func length(_ wanted: Double, _ side: Int) -> Int {
            guard wanted > 0 else { return side }
            let pixels = wanted < 1 ? (Double(side) * wanted).rounded(.toNearestOrEven) : wanted.rounded(.down)
            return Int(min(max(pixels, 1), Double(side)))
        }
        if let insets = crop.insets {
            return Rectangle(
                (insets.left, insets.top),
                Size(
                    width: max(whole.width - insets.left - insets.right, 1),
                    height: max(whole.height - insets.top - insets.bottom, 1)))
        }
        var size = Size(width: length(crop.width, whole.width), height: length(crop.height, whole.height))
        if crop.isSquare { (size.width, size.height) = (min(size.width, size.height), min(size.width, size.height)) }
        let gravity = (crop.gravity ?? transform.gravity).seen(through: .none, from: Rectangle((0, 0), whole))
        if case .corner(let x, let y) = gravity {
            // Parts outside the picture are cut off and not moved inside.
            size.width = min(size.width, max(whole.width - max(x, 0), 1))
            size.height = min(size.height, max(whole.height - max(y, 0), 1))
        }
        return Rectangle(gravity.place(size, in: whole), size)
    }

    /// Whether the crop of `transform` is outside a picture of this size.
    static func isBeside(_ transform: Transform, _ whole: Size) -> Bool {
        if let insets = transform.crop?.insets {
            return insets.left + insets.right >= whole.width || insets.top + insets.bottom >= whole.height
        }
        guard let crop = transform.crop, case .corner(let x, let y) = crop.gravity ?? transform.gravity else { return false }
        return x >= whole.width || y >= whole.height
    }

    /// The smallest size around `inner` in the proportions of `width` to `height`.
    private static func smallest(around inner: Size, width: Int, height: Int) -> Size {
        let (wide, high) = (Double(inner.width) * Double(height), Double(inner.height) * Double(width))
        func pixels(_ length: Double) -> Int { Int(min(length.rounded(.toNearestOrEven), 1e9)) }
        return wide < high
            ? Size(width: max(pixels(high / Double(height)), inner.width), height: inner.height)
            : Size(width: inner.width, height: max(pixels(wide / Double(width)), inner.height))
    }

    private static func canvas(_ transform: Transform, _ picture: Size, reduction: Reduction?) -> Canvas? {
        func reduced(_ side: Int) -> Int { reduction?.of(side) ?? side }
        var canvas = Canvas(size: picture, x: 0, y: 0)
        if let gravity = transform.extends {
            canvas.size = Size(
                width: max(picture.width, reduced(transform.width)), height: max(picture.height, reduced(transform.height)))
            (canvas.x, canvas.y) = gravity.place(picture, in: canvas.size)
        }
        if let gravity = transform.extendsProportions, transform.width > 0, transform.height > 0 {
            let inner = canvas.size
            canvas.size = Self.smallest(around: inner, width: transform.width, height: transform.height)
            if reduction != nil {
                // A side that is rounded up may be a pixel too long.
                canvas.size.width = max(min(canvas.size.width, transform.maxResultSide), inner.width)
                canvas.size.height = max(min(canvas.size.height, transform.maxResultSide), inner.height)
            }
            let place = gravity.place(inner, in: canvas.size)
            (canvas.x, canvas.y) = (canvas.x + place.x, canvas.y + place.y)
        }
        if let padding = transform.padding {
            // Far beyond every limit, and small enough for additions.
            func pixels(_ side: Int) -> Int { reduced(min(max(side, 0), 1_000_000_000)) }
            canvas.x += pixels(padding.left)
            canvas.y += pixels(padding.top)
            canvas.size.width += pixels(padding.left) + pixels(padding.right)
            canvas.size.height += pixels(padding.top) + pixels(padding.bottom)
        }
        return canvas.size == picture ? nil : canvas
    }
}

extension Turn {
    /// The turn of a picture stored with `orientation`, before the rotation and flips of `transform`.
    init(_ orientation: Orientation, of transform: Transform) { self.init(transform.appliesOrientation ? orientation : .up) }

    /// This turn, and then the rotation and flips of `transform`.
    func after(_ transform: Transform) -> Turn {
        rotated(transform.rotation).flipped(x: transform.flipsHorizontally, y: transform.flipsVertically)
    }
}

extension Gravity {
    /// The same gravity in a part that was cut out of the picture and turned: a point in pixels becomes fractions of that part.
    fileprivate func seen(through turn: Turn, from cut: Rectangle) -> Gravity {
        guard case .point(let x, let y) = self else { return self }
        var (across, down) = ((x - cut.x) / cut.width, (y - cut.y) / cut.height)
        if turn.transposes { (across, down) = (down, across) }
        return .focus(x: turn.mirrorsX ? 1 - across : across, y: turn.mirrorsY ? 1 - down : down)
    }
}

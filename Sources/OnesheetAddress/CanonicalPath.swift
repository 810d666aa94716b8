public import OnesheetValues

/// The canonical path of a variant: a ladder size if one matches, or else a free transform with canonical options. The format is an
/// extension.
public struct CanonicalPath: Sendable {
    private let options: ImageOptions
    private let signature: Signature

    /// - Parameters:
    ///   - options: the option grammar of the server.
    ///   - signature: signs free transforms. Without keys, paths contain `unsafe` instead.
    public init(options: ImageOptions, signature: Signature) {
        self.options = options
        self.signature = signature
    }

    /// The path of a title's poster with `transform`.
    /// - Parameters:
    ///   - expires: the expiry time of the path, in seconds since 1970.
    ///   - negotiates: whether the client's `Accept` selects the format of a free transform without one. There is no such path
    ///     otherwise.
    /// - Returns: `nil` if no path expresses the transform, for example if the server allows only presets.
    public func path(
        to title: TitleReference, as transform: Transform, expires: Int? = nil, negotiates: Bool = false
    ) -> String? {
        if let size = options.size(of: transform), expires == nil {
            return PosterPath.text(of: title, size: size, format: transform.format)
        }
        var text = transform.options
        if !transform.findsQuality, options.plain.findsQuality, transform.quality == Transform.defaultQuality {
            text.append("q:\(transform.quality)")
        }
        if let expires { text.append("exp:\(expires)") }
        let joined = text.joined(separator: "/")
        // A preset named `default` may set options that the text cannot reset.
        guard transform.format != nil || negotiates, isRead(joined, as: transform) else { return nil }
        let path = ImagePath.signedPath(options: joined, source: title.description, format: transform.format)
        return ImagePath.text(path, signedBy: signature)
    }

    private func isRead(_ text: String, as transform: Transform) -> Bool {
        do {
            var read = try options.parse(text).transform
            (read.format, read.isForAllClients) = (transform.format, transform.isForAllClients)
            return read == transform
        } catch {
            return false
        }
    }
}

extension ImageOptions {
    /// The name of the size with this transform.
    fileprivate func size(of transform: Transform) -> String? {
        guard transform.findsQuality == plain.findsQuality else { return nil }
        var rest = transform
        rest.findsQuality = false
        return SizeLadder.name(of: rest)
    }
}

extension Transform {
    /// The transform as options in canonical order, without defaults and format.
    package var options: [String] {
        var all: [String] = []
        func add(_ option: String, unless isDefault: Bool) { if !isDefault { all.append(option) } }
        func flag(_ value: Bool) -> String { value ? "1" : "0" }
        if crop == .square {
            all.append("square:1")
        } else if let insets = crop?.insets {
            all.append("inset:\(insets.top):\(insets.right):\(insets.bottom):\(insets.left)")
        } else if let crop {
            all.append("c:\(crop.width):\(crop.height)" + (crop.gravity.map { ":\($0.option)" } ?? ""))
        }
        if let trim {
            let sides = [trim.isEqualHorizontally, trim.isEqualVertically].map(flag).joined(separator: ":")
            all.append("t:\(trim.threshold):\(trim.color?.hexadecimal.dropFirst() ?? ""):\(sides)")
        }
        add("ar:0", unless: appliesOrientation)
        add("rot:\(rotation)", unless: rotation == 0)
        add("fl:\(flag(flipsHorizontally)):\(flag(flipsVertically))", unless: !flipsHorizontally && !flipsVertically)
        add("rt:\(resizing.rawValue)", unless: resizing == .fit)
        add("w:\(width)", unless: width == 0)
        add("h:\(height)", unless: height == 0)
        add("mw:\(minWidth)", unless: minWidth == 0)
        add("mh:\(minHeight)", unless: minHeight == 0)
        add("mrd:\(maxResultSide)", unless: maxResultSide == 0)
        add("z:\(zoomX):\(zoomY)", unless: zoomX == 1 && zoomY == 1)
        add("el:1", unless: !enlarges)
        add("g:\(gravity.option)", unless: gravity == .center)
        add("bl:\(blur)", unless: blur == 0)
        add("sh:\(sharpen)", unless: sharpen == 0)
        add("pix:\(pixelates)", unless: pixelates <= 1)
        add("gray:1", unless: !isGray)
        add("bitonal:1", unless: !isBitonal)
        if let extendsProportions { all.append("exar:1:\(extendsProportions.option)") }
        if let extends { all.append("ex:1:\(extends.option)") }
        if let padding { all.append("pd:\(padding.top):\(padding.right):\(padding.bottom):\(padding.left)") }
        if let background { all.append("bg:\(background.red):\(background.green):\(background.blue)") }
        if let watermark { all.append(watermark.option) }
        add(findsQuality ? "q:auto" : "q:\(quality)", unless: quality == Transform.defaultQuality && !findsQuality)
        add("mb:\(maxBytes)", unless: maxBytes == 0)
        add("skp:\(skips.map { $0.extensions[0] }.joined(separator: ":"))", unless: skips.isEmpty)
        add("msr:\(Double(maxSourcePixels) / 1e6)", unless: maxSourcePixels == 0)
        add("msfs:\(maxSourceBytes)", unless: maxSourceBytes == 0)
        add("sm:0", unless: stripsMetadata)
        add("kcr:1", unless: !keepsCopyright)
        add("scp:0", unless: convertsToSRGB)
        return all
    }
}

extension Transform.Watermark {
    fileprivate var option: String {
        let place =
            switch position {
            case .compass(let x, let y): Gravity.compass(x: x, y: y).option
            case .repeated: "re"
            }
        return "wm:\(opacity):\(place):\(offsetX):\(offsetY):\(scale)"
    }
}

extension Gravity {
    fileprivate var option: String {
        switch self {
        case .smart: "sm"
        case .focus(let x, let y): "fp:\(x):\(y)"
        case .corner(let x, let y): "nowe:\(x):\(y)"
        case .point(let x, let y): "pt:\(x):\(y)"
        case .compass(let x, let y): Self.name(x, y)
        case .offset(let x, let y, let across, let down): "\(Self.name(x, y)):\(across):\(down)"
        }
    }

    private static func name(_ x: Int, _ y: Int) -> String {
        String(OptionArguments.compass.first { $0.value == (x, y) }?.key ?? "ce")
    }
}

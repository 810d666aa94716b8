import OnesheetValues

extension Transform {
    /// The valid widths and heights in a URL. `Limits.outputPixels` bounds the variant's size as well.
    private static let sides = 0...65_535

    /// Applies one option.
    /// - Returns: `false` if the option is unknown.
    mutating func apply(_ option: inout OptionArguments) throws(RequestError) -> Bool {
        switch option.name {
        case "rs", "resize":
            try setResizing(&option)
            try setSize(&option)
        case "s", "size": try setSize(&option)
        case "rt", "resizing_type": try setResizing(&option)
        case "w", "width": width = try option.integer(Self.sides) ?? width
        case "h", "height": height = try option.integer(Self.sides) ?? height
        case "mw", "min-width": minWidth = try option.integer(Self.sides) ?? minWidth
        case "mh", "min-height": minHeight = try option.integer(Self.sides) ?? minHeight
        case "mrd", "max_result_dimension": maxResultSide = try option.integer(Self.sides) ?? maxResultSide
        case "el", "enlarge": enlarges = try option.flag() ?? enlarges
        case "ex", "extend": try setExtend(&option)
        case "g", "gravity": gravity = try option.gravity() ?? gravity
        case "c", "crop":
            let sizes = 0.0...65_535
            let (width, height) = (try option.number(sizes) ?? 0, try option.number(sizes) ?? 0)
            let gravity = try option.gravity()
            crop = width == 0 && height == 0 ? nil : Crop(width: width, height: height, gravity: gravity)
        case "rot", "rotate": try setRotation(&option)
        case "fl", "flip":
            flipsHorizontally = try option.flag() ?? false
            flipsVertically = try option.flag() ?? false
        case "pd", "padding": try setPadding(&option)
        case "bg", "background": try setBackground(&option)
        case "bl", "blur": blur = try option.number(0...100) ?? blur
        case "sh", "sharpen": sharpen = try option.number(0...10) ?? sharpen
        case "ar", "auto_rotate": appliesOrientation = try option.flag() ?? appliesOrientation
        case "exar", "extend_ar", "extend_aspect_ratio": extendsProportions = try Self.extension(&option, or: extendsProportions)
        case "z", "zoom":
            let factors = 0.0001...100.0
            zoomX = try option.number(factors) ?? zoomX
            zoomY = try option.number(factors) ?? zoomX
        case "t", "trim": try setTrim(&option)
        case "pix", "pixelate": if let side = try option.integer(Self.sides) { pixelates = side > 1 ? side : 0 }
        // Not an option of imgproxy. Other servers call it grayscale.
        case "gray": isGray = try option.flag() ?? isGray
        // Not options of imgproxy either. IIIF has both.
        case "bitonal": isBitonal = try option.flag() ?? isBitonal
        // Not an option of imgproxy. Cloudflare has it.
        case "inset": try setInset(&option)
        case "square": if let isSquare = try option.flag() { crop = isSquare ? .square : nil }
        case "msr", "max_src_resolution":
            // Megapixels. 0 is no limit, so a small number never becomes 0.
            maxSourcePixels = try option.number(0...10_000).map { Int(($0 * 1e6).rounded(.up)) } ?? maxSourcePixels
        case "msfs", "max_src_file_size": maxSourceBytes = try option.integer(0...Int.max) ?? maxSourceBytes
        // Accepted without effect: pictures are never taken from a thumbnail inside, and only the first frame of an animation is used.
        case "eth", "enforce_thumbnail": _ = try option.flag()
        case "maf", "max_animation_frames": _ = try option.integer(0...Int.max)
        case "mafr", "max_animation_frame_resolution": _ = try option.number(0...10_000)
        case "mb", "max_bytes": maxBytes = try option.integer(0...Int.max) ?? maxBytes
        case "sm", "strip_metadata": stripsMetadata = try option.flag() ?? stripsMetadata
        case "kcr", "keep_copyright": keepsCopyright = try option.flag() ?? keepsCopyright
        case "scp", "strip_color_profile": convertsToSRGB = try option.flag() ?? convertsToSRGB
        default: return false
        }
        return true
    }

    private mutating func setResizing(_ option: inout OptionArguments) throws(RequestError) {
        guard let text = option.text() else { return }
        guard let type = Resizing(rawValue: String(text)) else {
            throw .bad(option: option.name, value: String(text), reason: "needs fit, fill, fill-down, force, auto or cover")
        }
        resizing = type
    }

    private mutating func setSize(_ option: inout OptionArguments) throws(RequestError) {
        width = try option.integer(Self.sides) ?? width
        height = try option.integer(Self.sides) ?? height
        enlarges = try option.flag() ?? enlarges
        try setExtend(&option)
    }

    private mutating func setExtend(_ option: inout OptionArguments) throws(RequestError) {
        extends = try Self.extension(&option, or: extends)
    }

    private static func `extension`(_ option: inout OptionArguments, or present: Gravity?) throws(RequestError) -> Gravity? {
        guard let extend = try option.flag() else { return present }
        let gravity = try option.gravity() ?? .center
        return extend ? gravity : nil
    }

    private mutating func setTrim(_ option: inout OptionArguments) throws(RequestError) {
        guard let threshold = try option.number(0...255) else {
            throw .bad(option: option.name, value: option.all, reason: "needs a threshold from 0 to 255")
        }
        trim = Trim(
            threshold: threshold, color: try option.color(), isEqualHorizontally: try option.flag() ?? false,
            isEqualVertically: try option.flag() ?? false)
    }

    private mutating func setRotation(_ option: inout OptionArguments) throws(RequestError) {
        let degrees = try option.integer(-36_000...36_000) ?? 0
        guard degrees.isMultiple(of: 90) else {
            throw .bad(option: option.name, value: "\(degrees)", reason: "needs a multiple of 90, such as 270")
        }
        rotation = (degrees % 360 + 360) % 360
    }

    /// One value for all sides, two for vertical and horizontal, or four clockwise from the top, as in CSS.
    private mutating func setPadding(_ option: inout OptionArguments) throws(RequestError) {
        let sides = 0...8192
        let top = try option.integer(sides) ?? 0
        let right = try option.integer(sides) ?? top
        let bottom = try option.integer(sides) ?? top
        let left = try option.integer(sides) ?? right
        padding = top + right + bottom + left == 0 ? nil : Padding(top: top, right: right, bottom: bottom, left: left)
    }

    /// Pixels to cut off: top, right, bottom, left, as `setPadding` reads them.
    private mutating func setInset(_ option: inout OptionArguments) throws(RequestError) {
        let top = try option.integer(Self.sides) ?? 0
        let right = try option.integer(Self.sides) ?? top
        let bottom = try option.integer(Self.sides) ?? top
        let left = try option.integer(Self.sides) ?? right
        crop = top + right + bottom + left == 0 ? nil : .inset(Padding(top: top, right: right, bottom: bottom, left: left))
    }

    /// Parses `bg:255:255:255`, `bg:ffffff`, `bg:fff`, or `bg:` for no background.
    private mutating func setBackground(_ option: inout OptionArguments) throws(RequestError) {
        guard let first = option.text() else {
            background = nil
            return
        }
        if option.isEmpty {
            guard let color = Color(digits: first) else {
                throw .bad(option: option.name, value: String(first), reason: "needs r:g:b or six hexadecimal digits")
            }
            background = color
        } else {
            guard let red = UInt8(first), let green = try option.integer(0...255), let blue = try option.integer(0...255) else {
                throw .bad(option: option.name, value: option.all, reason: "needs three numbers from 0 to 255")
            }
            background = Color(red: red, green: UInt8(green), blue: UInt8(blue))
        }
    }
}

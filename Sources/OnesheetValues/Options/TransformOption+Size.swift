extension TransformOption {
    /// Options of what is shown and how large it is, in the order of canonical addresses.
    static let size: [TransformOption] = [
        TransformOption(
            ["c", "crop"], arguments: "{w}:{h}:{gravity}",
            help: "the part of the original to keep: pixels, or fractions below 1; 0 keeps the whole side",
            properties: [.crop(\.crop)],
            key: [
                KeyPart(name: "crop") {
                    $0.crop.map {
                        "\($0.width)x\($0.height)" + ($0.gravity.map { "@\($0)" } ?? "") + ($0.isSquare ? "s" : "")
                            + ($0.insets.map { "-\($0.top),\($0.right),\($0.bottom),\($0.left)" } ?? "")
                    }
                }
            ],
            text: {
                guard let crop = $0.crop, crop != .square, crop.insets == nil else { return nil }
                return "\(crop.width):\(crop.height)" + (crop.gravity.map { ":\($0.option)" } ?? "")
            }, effects: .look
        ) { option, parsed, _ throws(RequestError) in
            let sizes = 0.0...65_535
            guard !option.isBlank else { return }
            // A crop stands instead of a square and of insets.
            let present = parsed.transform.crop.flatMap { $0.isSquare || $0.insets != nil ? nil : $0 }
            let width = try option.number(sizes, or: present?.width ?? 0)
            let height = try option.number(sizes, or: present?.height ?? 0)
            let crop = Transform.Crop(width: width, height: height, gravity: try option.gravity() ?? present?.gravity)
            parsed.transform.crop = crop.width == 0 && crop.height == 0 ? nil : crop
        },
        TransformOption(
            ["square"], arguments: "{0|1}", help: "the largest square in the middle, instead of crop", key: [],
            text: { $0.crop == .square ? "1" : nil }, effects: .look
        ) { option, parsed, _ throws(RequestError) in
            if let isSquare = try option.flag() { parsed.transform.crop = isSquare ? .square : nil }
        },
        TransformOption(
            ["inset"], arguments: "{top}:{right}:{bottom}:{left}", help: "pixels to cut off on each side, instead of crop", key: [],
            text: { $0.crop?.insets.map { "\($0.top):\($0.right):\($0.bottom):\($0.left)" } }, effects: .look
        ) { option, parsed, _ throws(RequestError) in
            guard !option.isBlank else { return }
            let insets = try option.padding(OptionArguments.sides, or: parsed.transform.crop?.insets)
            parsed.transform.crop = insets.map { .inset($0) }
        },
        TransformOption(
            ["t", "trim"], arguments: "{threshold}:{color}:{equal_hor}:{equal_ver}",
            help: "cuts off an even border: the largest difference of a channel, 0 to 255, and the border's colour",
            properties: [.trim(\.trim)],
            key: [
                KeyPart(name: "trim") {
                    $0.trim.map {
                        "\($0.threshold)" + ($0.color.map { "@\($0)" } ?? "") + ($0.isEqualHorizontally ? "h" : "")
                            + ($0.isEqualVertically ? "v" : "")
                    }
                }
            ],
            text: {
                $0.trim.map {
                    let sides = [$0.isEqualHorizontally, $0.isEqualVertically].map { $0 ? "1" : "0" }.joined(separator: ":")
                    return "\($0.threshold):\($0.color?.hexadecimal.dropFirst() ?? ""):\(sides)"
                }
            }, effects: .look
        ) { option, parsed, _ throws(RequestError) in
            let present = parsed.transform.trim
            guard let threshold = try option.number(0...255) ?? present?.threshold else {
                throw .bad(option: option.name, value: option.all, reason: "needs a threshold from 0 to 255")
            }
            parsed.transform.trim = .init(
                threshold: threshold, color: try option.color(or: present?.color),
                isEqualHorizontally: try option.flag(or: present?.isEqualHorizontally ?? false),
                isEqualVertically: try option.flag(or: present?.isEqualVertically ?? false))
        },
        .flag("ar", "auto_rotate", at: \.appliesOrientation, effects: .look, help: "0 ignores the EXIF orientation"),
        TransformOption(
            ["rot", "rotate"], arguments: "{degrees}", help: "turns clockwise by a multiple of 90",
            properties: [.integer(\.rotation)],
            text: { $0.rotation == 0 ? nil : "\($0.rotation)" }, effects: .look
        ) { option, parsed, _ throws(RequestError) in
            let degrees = try option.integer(-36_000...36_000, or: parsed.transform.rotation)
            guard degrees.isMultiple(of: 90) else {
                throw .bad(option: option.name, value: "\(degrees)", reason: "needs a multiple of 90, such as 270")
            }
            parsed.transform.rotation = (degrees % 360 + 360) % 360
        },
        TransformOption(
            ["fl", "flip"], arguments: "{horizontally}:{vertically}", help: "mirrors the image; each is 0 or 1",
            properties: [.flag(\.flipsHorizontally), .flag(\.flipsVertically)],
            key: [
                KeyPart(name: "flip") {
                    let sides = ($0.flipsHorizontally ? "h" : "") + ($0.flipsVertically ? "v" : "")
                    return sides.isEmpty ? nil : sides
                }
            ],
            text: {
                guard $0.flipsHorizontally || $0.flipsVertically else { return nil }
                return "\($0.flipsHorizontally ? 1 : 0):\($0.flipsVertically ? 1 : 0)"
            }, effects: .look
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform.flipsHorizontally = try option.flag(or: parsed.transform.flipsHorizontally)
            parsed.transform.flipsVertically = try option.flag(or: parsed.transform.flipsVertically)
        },
        TransformOption(
            ["rs", "resize"], arguments: "{type}:{w}:{h}:{enlarge}:{extend}", help: "rt and s in one"
        ) { option, parsed, _ throws(RequestError) in
            try readResizing(&option, &parsed.transform)
            try readSize(&option, &parsed.transform)
        },
        TransformOption(
            ["s", "size"], arguments: "{w}:{h}:{enlarge}:{extend}", help: "w, h, el and ex in one"
        ) { option, parsed, _ throws(RequestError) in try readSize(&option, &parsed.transform) },
        TransformOption(
            ["rt", "resizing_type"], arguments: "{\(Transform.Resizing.allCases.map(\.rawValue).joined(separator: "|"))}",
            help: "how the image fits the box; fit shows all of it", properties: [.resizing(\.resizing)], key: [],
            text: { $0.resizing == .fit ? nil : $0.resizing.rawValue }, effects: .look
        ) { option, parsed, _ throws(RequestError) in try readResizing(&option, &parsed.transform) },
        .side(
            "w", "width", \.width,
            key: [
                KeyPart(name: "size") {
                    $0.width == 0 && $0.height == 0 ? nil : "\($0.resizing.rawValue)-\($0.width)x\($0.height)"
                }
            ], help: "the width of the box; 0 follows from the height"),
        .side("h", "height", \.height, key: [], help: "the height of the box; 0 follows from the width"),
        .side(
            "mw", "min-width", \.minWidth,
            key: [KeyPart(name: "min") { $0.minWidth == 0 && $0.minHeight == 0 ? nil : "\($0.minWidth)x\($0.minHeight)" }],
            help: "the least width"),
        .side("mh", "min-height", \.minHeight, key: [], help: "the least height"),
        .integer(
            "mrd", "max_result_dimension", \.maxResultSide, OptionArguments.sides,
            help: "the longest side of the result, with padding; 0 is no limit"),
        TransformOption(
            ["z", "zoom"], arguments: "{x}:{y}", help: "factors for the box, or for the image if there is none, up to 100",
            properties: [.number(\.zoomX), .number(\.zoomY)],
            key: [KeyPart(name: "zoom") { $0.zoomX == 1 && $0.zoomY == 1 ? nil : "\($0.zoomX)x\($0.zoomY)" }],
            text: { $0.zoomX == 1 && $0.zoomY == 1 ? nil : "\($0.zoomX):\($0.zoomY)" }, effects: .look,
            when: { $0.zoomX != $0.zoomY }
        ) { option, parsed, _ throws(RequestError) in
            let factors = 0.0001...100.0
            let (across, down) = (try option.number(factors), try option.number(factors))
            parsed.transform.zoomX = across ?? parsed.transform.zoomX
            parsed.transform.zoomY = down ?? across ?? parsed.transform.zoomY
        },
        .flag("el", "enlarge", at: \.enlarges, help: "1 enlarges an image that is smaller than the box"),
        TransformOption(
            ["g", "gravity"], arguments: "{ce|no|so|ea|we|noea|nowe|soea|sowe|sm|fp|pt}:{x}:{y}",
            help: "what to keep if not all fits",
            properties: [.gravity(\.gravity)], key: [KeyPart(name: "g") { $0.gravity == .center ? nil : "\($0.gravity)" }],
            text: { $0.gravity == .center ? nil : $0.gravity.option }, scale: { $0.gravity = $0.gravity.scaled(by: $1) }
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform.gravity = try option.gravity(or: parsed.transform.gravity)
        },
        TransformOption(
            ["dpr"], arguments: "{0.1–8}", help: "pixels per point, which multiplies sides, padding and offsets"
        ) { option, parsed, _ throws(RequestError) in
            parsed.devicePixelRatio = try option.number(0.1...8, or: parsed.devicePixelRatio)
        },
    ]

    private static func readResizing(_ option: inout OptionArguments, _ transform: inout Transform) throws(RequestError) {
        guard let text = option.text() else { return }
        guard let type = Transform.Resizing(rawValue: String(text)) else {
            throw .bad(option: option.name, value: String(text), reason: "needs fit, fill, fill-down, force, auto or cover")
        }
        transform.resizing = type
    }

    private static func readSize(_ option: inout OptionArguments, _ transform: inout Transform) throws(RequestError) {
        transform.width = try option.integer(OptionArguments.sides, or: transform.width)
        transform.height = try option.integer(OptionArguments.sides, or: transform.height)
        transform.enlarges = try option.flag(or: transform.enlarges)
        transform.extends = try option.position(or: transform.extends)
    }
}

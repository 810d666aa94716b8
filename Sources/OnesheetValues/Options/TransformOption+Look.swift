extension TransformOption {
    /// Options of pixels, and of what is around them, in the order of canonical addresses.
    static let look: [TransformOption] = [
        .number(
            "bl", "blur", \.blur, 0...100, effects: [.look, .pass, .copy, .rows],
            help: "the standard deviation of a Gaussian blur, in pixels of the output"),
        .number(
            "sh", "sharpen", \.sharpen, 0...10, effects: [.pass, .copy, .rows],
            help: "the standard deviation of an unsharp mask, in pixels of the output"),
        TransformOption(
            ["pix", "pixelate"], arguments: "{pixels}", help: "the side of squares of one colour",
            properties: [.integer(\.pixelates)],
            text: { $0.pixelates <= 1 ? nil : "\($0.pixelates)" }, effects: [.look, .pass, .packed]
        ) { option, parsed, _ throws(RequestError) in
            let side = try option.integer(OptionArguments.sides, or: parsed.transform.pixelates)
            parsed.transform.pixelates = side > 1 ? side : 0
        },
        // Not options of imgproxy. Other servers call the first one grayscale, and IIIF has both.
        .flag("gray", at: \.isGray, effects: [.look, .pass], help: "1 keeps only the luminance"),
        .flag("bitonal", at: \.isBitonal, effects: [.look, .pass, .packed], help: "1 makes every pixel black or white"),
        .position(
            "exar", "extend_ar", "extend_aspect_ratio", at: \.extendsProportions,
            help: "1 adds a canvas with the proportions of the box"),
        .position("ex", "extend", at: \.extends, help: "1 adds a canvas with the size of the box"),
        TransformOption(
            ["pd", "padding"], arguments: "{top}:{right}:{bottom}:{left}", help: "pixels around the image, up to 8192",
            properties: [.padding(\.padding)],
            key: [KeyPart(name: "pd") { $0.padding.map { "\($0.top),\($0.right),\($0.bottom),\($0.left)" } }],
            text: { $0.padding.map { "\($0.top):\($0.right):\($0.bottom):\($0.left)" } }, effects: .look,
            scale: { transform, ratio in
                func scaled(_ side: Int) -> Int { Transform.multiplied(side, by: ratio) }
                transform.padding = transform.padding.map {
                    .init(top: scaled($0.top), right: scaled($0.right), bottom: scaled($0.bottom), left: scaled($0.left))
                }
            }
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform.padding = try option.padding(0...8192, or: parsed.transform.padding)
        },
        TransformOption(
            ["bg", "background"], arguments: "{r}:{g}:{b}", help: "the colour behind the image, also as hexadecimal digits",
            properties: [.color(\.background)], key: [KeyPart(name: "bg") { $0.background.map { "\($0)" } }],
            text: { $0.background.map { "\($0.red):\($0.green):\($0.blue)" } }
        ) { option, parsed, _ throws(RequestError) in parsed.transform.background = try option.background() },
        TransformOption(
            ["wm", "watermark"], arguments: "{opacity}:{position}:{x}:{y}:{scale}", help: "draws the server's watermark",
            properties: [.watermark(\.watermark)], key: [KeyPart(name: "wm") { $0.watermark?.canonicalText }],
            text: { $0.watermark?.option }, effects: [.look, .pass, .packed],
            scale: { $0.watermark = $0.watermark?.multiplied(by: $1) }
        ) { option, parsed, grammar throws(RequestError) in
            guard let digest = grammar.watermark else {
                throw .unknown(
                    "option “\(option.name)” draws the server's watermark, and it has none (configuration: rendering.watermark)")
            }
            parsed.transform.watermark = try Transform.Watermark(&option, or: parsed.transform.watermark, digest: digest)
        },
    ]

    /// An option that adds a canvas: a flag, and the position of the image on it.
    private static func position(
        _ names: String..., at path: Property.Path<Gravity?>, help: String
    ) -> TransformOption {
        TransformOption(
            names, arguments: "{0|1}:{gravity}", help: help, properties: [.position(path)],
            key: [KeyPart(name: names[0]) { $0[keyPath: path].map { "\($0)" } }],
            text: { $0[keyPath: path].map { "1:\($0.option)" } }, effects: .look,
            scale: { $0[keyPath: path] = $0[keyPath: path]?.scaled(by: $1) }
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform[keyPath: path] = try option.position(or: parsed.transform[keyPath: path])
        }
    }
}

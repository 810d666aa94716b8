extension TransformOption {
    /// Options of the encoded image, in the order of canonical addresses.
    static let output: [TransformOption] = [
        TransformOption(
            ["f", "ext", "format"], arguments: "{extension}", help: "the format",
            properties: [.format(\.format), .flag(\.isForAllClients)],
            key: [
                KeyPart(name: "f") { $0.format.map { "\($0)" } }, KeyPart(name: "all") { $0.isForAllClients ? "1" : nil },
            ]
        ) { option, parsed, grammar throws(RequestError) in
            if let text = option.text() { parsed.transform.format = try grammar.format(text) }
        },
        TransformOption(
            ["q", "quality"], arguments: "{1–100|auto}", help: "how a JPEG of this quality looks; auto finds the quality",
            properties: [.integer(\.quality), .flag(\.findsQuality)],
            text: { $0.findsQuality ? "auto" : $0.quality == Transform.defaultQuality ? nil : "\($0.quality)" }
        ) { option, parsed, _ throws(RequestError) in parsed.quality = try option.quality(or: parsed.quality) },
        TransformOption(
            ["fq", "format_quality"], arguments: "{extension}:{quality}:…", help: "qualities by format",
            properties: [.qualities(\.qualities)],
            key: [
                KeyPart(name: "fq") {
                    guard !$0.qualities.isEmpty else { return nil }
                    return $0.qualities.map { "\($0.key)-\($0.value)" }.sorted().joined(separator: ",")
                }
            ]
        ) { option, parsed, grammar throws(RequestError) in
            while let name = option.text() {
                guard let quality = try option.integer(1...100) else {
                    throw .bad(option: option.name, value: option.all, reason: "needs a quality after each format")
                }
                parsed.transform.qualities[try grammar.format(name)] = quality
            }
        },
        .integer("mb", "max_bytes", \.maxBytes, 0...Int.max, help: "lowers the quality until the image has at most these bytes"),
        TransformOption(
            ["skp", "skip_processing"], arguments: "{extension}:…", help: "leaves originals of these formats as they are",
            properties: [.formats(\.skips)],
            key: [KeyPart(name: "skp") { $0.skips.isEmpty ? nil : $0.skips.map(\.name).joined(separator: ",") }],
            text: { $0.skips.isEmpty ? nil : $0.skips.map { $0.extensions[0] }.joined(separator: ":") }
        ) { option, parsed, grammar throws(RequestError) in
            var skips: Set<ImageFormat> = []
            while let name = option.text() { skips.insert(try grammar.format(name)) }
            parsed.transform.skips = skips.sorted { $0.name < $1.name }
        },
        TransformOption(
            ["msr", "max_src_resolution"], arguments: "{megapixels}", help: "refuses originals with more pixels",
            properties: [.integer(\.maxSourcePixels)],
            key: [KeyPart(name: "msr") { $0.maxSourcePixels == 0 ? nil : "\($0.maxSourcePixels)" }],
            text: { $0.maxSourcePixels == 0 ? nil : "\(Double($0.maxSourcePixels) / 1e6)" }
        ) { option, parsed, _ throws(RequestError) in
            // 0 is no limit, so a small number never becomes 0.
            guard let pixels = try option.number(0...10_000) else { return }
            parsed.transform.maxSourcePixels = Int((pixels * 1e6).rounded(.up))
        },
        .integer("msfs", "max_src_file_size", \.maxSourceBytes, 0...Int.max, help: "refuses originals with more bytes"),
        .flag("sm", "strip_metadata", at: \.stripsMetadata, help: "0 keeps EXIF, comments and similar metadata"),
        .flag("kcr", "keep_copyright", at: \.keepsCopyright, help: "1 keeps the copyright if metadata is removed"),
        .flag("scp", "strip_color_profile", at: \.convertsToSRGB, help: "0 keeps the colour profile"),
    ]

    /// Options that change no image.
    static let response: [TransformOption] = [
        TransformOption(
            ["im", "image"], arguments: "{kind}:{language}:…",
            help: "the title's poster, backdrop, logo, still, profile, banner or season, in the best of these languages"
        ) { option, parsed, _ throws(RequestError) in
            guard let kind = option.text() else { return }
            var languages: [LanguageList.Entry] = []
            while let language = option.text() { languages.append(try LanguageList.Entry(language)) }
            parsed.image = ImageSelector(
                try ImageKind.named(kind), in: languages.isEmpty ? nil : try LanguageList(languages))
        },
        TransformOption(
            ["raw"], arguments: "{0|1}", help: "1 returns the original as it is"
        ) { option, parsed, _ throws(RequestError) in parsed.isRaw = try option.flag(or: parsed.isRaw) },
        TransformOption(
            ["att", "return_attachment"], arguments: "{0|1}", help: "1 offers the image as a file to save"
        ) { option, parsed, _ throws(RequestError) in
            guard let isAttachment = try option.flag() else { return }
            parsed.disposition = Disposition(isAttachment: isAttachment, name: parsed.disposition?.name)
        },
        TransformOption(
            ["fn", "filename"], arguments: "{name}:{isBase64}", help: "the name of that file"
        ) { option, parsed, _ throws(RequestError) in
            let isAttachment = parsed.disposition?.isAttachment ?? false
            parsed.disposition = try Disposition(&option, isAttachment: isAttachment) ?? parsed.disposition
        },
        TransformOption(
            ["pr", "preset"], arguments: "{name}:…", help: "the options of presets", isAllowedWithPresets: true, read: nil),
        TransformOption(
            ["cb", "cachebuster"], arguments: "{text}", help: "no effect: another address for the same image",
            isAllowedWithPresets: true
        ) { option, _, _ throws(RequestError) in _ = option.text() },
        TransformOption(
            ["exp", "expires"], arguments: "{seconds}", help: "when the address expires, in seconds since 1970",
            isAllowedWithPresets: true
        ) { option, parsed, _ throws(RequestError) in parsed.expires = try option.integer(0...Int.max) ?? parsed.expires },
        // Images are never taken from a thumbnail inside, and only the first frame of an animation is used.
        TransformOption(
            ["eth", "enforce_thumbnail"], arguments: "{0|1}", help: "no effect"
        ) { option, _, _ throws(RequestError) in _ = try option.flag() },
        TransformOption(
            ["maf", "max_animation_frames"], arguments: "{frames}", help: "no effect"
        ) { option, _, _ throws(RequestError) in _ = try option.integer(0...Int.max) },
        TransformOption(
            ["mafr", "max_animation_frame_resolution"], arguments: "{megapixels}", help: "no effect"
        ) { option, _, _ throws(RequestError) in _ = try option.number(0...10_000) },
    ]
}

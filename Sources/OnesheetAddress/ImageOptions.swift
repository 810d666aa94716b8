public import OnesheetValues

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Parses options in imgproxy's grammar, such as `rs:fill:300:450/q:75`. Slashes separate options; colons separate a name and its
/// arguments.
///
/// The result is canonical: presets are expanded, `dpr` is multiplied, and the order of options is irrelevant.
public struct ImageOptions: Sendable {
    public typealias Parsed = ParsedOptions

    /// The most options of an address. One that repeats a preset would otherwise take the longer, the longer the preset is.
    private static let most = 256

    private let grammar: OptionGrammar
    private let presets: [String: [Substring]]
    private let presetsOnly: Bool
    /// The transforms that a server with `presetsOnly` makes: that of an address without options, and that of each preset.
    private var allowed: [Transform] = []
    /// The transform of an address without options.
    package let plain: Transform

    /// - Parameters:
    ///   - formats: the formats that can be encoded.
    ///   - presets: options by preset name, in this grammar. A preset named `default` is applied first.
    ///   - presetsOnly: whether URLs may contain only presets.
    ///   - watermark: the digest of the server's watermark; `nil` if it has none.
    ///   - findsQuality: whether the server finds the quality of an address that names none.
    /// - Throws: `RequestError` if a preset is malformed.
    public init(
        formats: [ImageFormat], presets: [String: String] = [:], presetsOnly: Bool = false, watermark: String? = nil,
        findsQuality: Bool = false
    ) throws(RequestError) {
        grammar = OptionGrammar(formats: formats, watermark: watermark)
        self.presets = presets.mapValues { $0.pieces(at: "/") }
        self.presetsOnly = presetsOnly
        plain = Self.plain(findsQuality: findsQuality)
        for options in [""] + presets.keys.sorted().map({ "pr:\($0)" }) { allowed.append(try parse(options).transform) }
    }

    /// The error of each preset that is malformed. A malformed `default`, which is a part of all others, is reported alone.
    package static func errors(
        of presets: [String: String], formats: [ImageFormat], watermark: String?
    ) -> [(name: String, error: RequestError)] {
        let options = ImageOptions(unchecked: presets, formats: formats, watermark: watermark)
        var errors: [(name: String, error: RequestError)] = []
        for name in presets.keys.sorted(by: { ($0 == "default" ? 0 : 1, $0) < ($1 == "default" ? 0 : 1, $1) }) {
            do throws(RequestError) { _ = try options.parse("pr:\(name)") } catch {
                errors.append((name, error))
                if name == "default" { break }
            }
        }
        return errors
    }

    /// The grammar of clients: without presets, and with a watermark, because they cannot know whether the server has one.
    static let clients = ImageOptions(unchecked: [:], formats: PosterAddresses.formats, watermark: "")

    private init(unchecked presets: [String: String], formats: [ImageFormat], watermark: String?) {
        grammar = OptionGrammar(formats: formats, watermark: watermark)
        self.presets = presets.mapValues { $0.pieces(at: "/") }
        presetsOnly = false
        plain = Transform()
    }

    private static func plain(findsQuality: Bool) -> Transform {
        var plain = Transform()
        plain.findsQuality = findsQuality
        return plain
    }

    /// Parses options separated by slashes.
    /// - Throws: `RequestError` with the unknown option or the option with a bad value.
    public func parse(_ text: some StringProtocol) throws(RequestError) -> Parsed {
        try parse(Substring(text).pieces(at: "/"), nesting: 0)
    }

    /// Parses the options of a dialect's address, given in this grammar.
    /// - Throws: `RequestError` with the option that has a bad value, or if only presets are allowed and none matches.
    package func transform(_ options: [String]) throws(RequestError) -> Transform {
        let transform = try parse(options.map { Substring($0) }, nesting: 1).transform
        guard presetsOnly else { return transform }
        for var preset in allowed {
            preset.format = preset.format ?? transform.format
            if preset == transform { return transform }
        }
        throw .forbidden(
            "this server allows only the transforms of its presets: "
                + (presets.isEmpty ? "it has none" : presets.keys.sorted().joined(separator: ", ")))
    }

    /// The transform of a size that a dialect has, given in this grammar. Presets change none, as none of the ladder.
    package func transform(ofSize options: [String]) throws(RequestError) -> Transform {
        try parse(options.map { Substring($0) }, nesting: 1, withDefault: false).transform
    }

    private func parse(_ options: [Substring], nesting: Int, withDefault: Bool = true) throws(RequestError) -> Parsed {
        var parsed = Parsed()
        parsed.transform = plain
        if withDefault, let preset = presets["default"] { try apply(preset, to: &parsed, nesting: 1) }
        try apply(options, to: &parsed, nesting: nesting)
        // Not part of the result, which is compared with others.
        parsed.count = 0
        if parsed.isRaw {
            parsed.transform = Transform()
            return parsed
        }
        parsed.transform = parsed.transform.multiplied(by: parsed.devicePixelRatio)
        parsed.devicePixelRatio = 1
        if let quality = parsed.quality {
            switch quality {
            case .number(let number): (parsed.transform.quality, parsed.transform.findsQuality) = (number, false)
            case .automatic: parsed.transform.findsQuality = true
            }
            parsed.transform.qualities = [:]
        }
        if let format = parsed.transform.format { parsed.transform = parsed.transform.encoded(in: format) }
        return parsed
    }

    /// The format with the file extension `text`.
    package func format(_ text: some StringProtocol) throws(RequestError) -> ImageFormat { try grammar.format(text) }

    /// The images for each size in each format.
    /// - Parameters:
    ///   - sizes: as in paths: `w342` for posters, `w780.backdrop` for backdrops.
    ///   - formats: file extensions, or `auto`, the format for clients without a preference.
    /// - Throws: `RequestError` with the unknown size or format, or if there is none.
    package func variants(sizes: [String], formats: [String]) throws(RequestError) -> [ImageVariant] {
        for (key, names) in [("sizes", sizes), ("formats", formats)] where names.isEmpty {
            throw .malformed("“\(key)” is empty: leave it out, or name at least one")
        }
        func once(_ names: [String]) -> [String] {
            var seen: Set<ExactText> = []
            return names.filter { seen.insert(ExactText($0)).inserted }
        }
        var (variants, seen): ([ImageVariant], Set<ImageVariant>) = ([], [])
        // Remove duplicates: long lists with repeated names would multiply.
        for text in once(sizes) {
            let image = try SizedImage(text)
            let (size, selector) = (image.size, image.selector)
            for name in once(formats) {
                var transform = try self.transform(size: size)
                if name == "auto" {
                    // The format of `original` is never negotiated.
                    transform.isForAllClients = size != "original"
                } else {
                    transform.format = try format(name)
                }
                let variant = ImageVariant(selector, transform)
                // The same image may have several names: `w342.logo.ko` and `w342.logo.KO`.
                if seen.insert(variant).inserted { variants.append(variant) }
            }
        }
        return variants
    }

    /// The transform of a size.
    /// - Throws: `RequestError.unknown` with the nearest name.
    package func transform(size: some StringProtocol) throws(RequestError) -> Transform {
        var transform = try SizeLadder.transform(size)
        transform.findsQuality = plain.findsQuality
        return transform
    }

    private func apply(_ options: [Substring], to parsed: inout Parsed, nesting: Int) throws(RequestError) {
        for option in options {
            parsed.count += 1
            guard parsed.count <= Self.most else {
                throw .malformed("an address has at most \(Self.most) options, with those of its presets")
            }
            var arguments = OptionArguments(option)
            let option = TransformOption.named[arguments.name]
            if presetsOnly, nesting == 0, !(option?.isAllowedWithPresets ?? false) {
                throw .presetsOnly(option: arguments.name, presets: presets.keys.sorted())
            }
            guard let option else {
                if let reason = RefusedOptions.reason(arguments.name) { throw .unknown(reason) }
                throw .unknown(unknownName(arguments.name, kind: "option", known: TransformOption.shortNames))
            }
            if let read = option.read {
                try read(&arguments, &parsed, grammar)
            } else {
                try applyPresets(&arguments, to: &parsed, nesting: nesting)
            }
            try arguments.finish()
        }
    }

    private func applyPresets(_ option: inout OptionArguments, to parsed: inout Parsed, nesting: Int) throws(RequestError) {
        guard nesting < 4 else { throw .bad(option: "pr", value: option.all, reason: "presets are nested too deeply") }
        while let name = option.text() {
            guard let preset = presets[String(name)] else {
                throw .unknown(unknownName(String(name), kind: "preset", known: presets.keys))
            }
            try apply(preset, to: &parsed, nesting: nesting + 1)
        }
    }
}

/// One option of an address: its row in the table of all options, from which the grammar, the cache key, canonical addresses, help,
/// messages to render processes and the cost of a render follow. Only what it does to pixels is elsewhere.
package struct TransformOption: Sendable {
    package typealias Read =
        @Sendable (inout OptionArguments, inout ParsedOptions, OptionGrammar) throws(RequestError) -> Void
    package typealias Text = @Sendable (Transform) -> String?
    /// A part of a transform's canonical text.
    struct KeyPart: Sendable {
        let name: String
        /// `nil` for the standard value, so that keys of entries that were stored before the option existed remain.
        let text: Text
    }

    /// What a value other than the standard one means for others.
    package struct Effects: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The image no longer shows the whole original as it is.
        package static let look = Effects(rawValue: 1)
        /// One more pass over the pixels of the output.
        package static let pass = Effects(rawValue: 2)
        /// The output is another picture in memory than the resampled one.
        package static let copy = Effects(rawValue: 4)
        /// Needs pixels instead of planes of Y, Cb and Cr, which are such a copy.
        package static let packed: Effects = [.copy, Effects(rawValue: 8)]
        /// Needs the rows of a blur.
        package static let rows = Effects(rawValue: 16)
    }

    /// The short name first, which canonical addresses and “did you mean” use.
    package let names: [String]
    /// The arguments, such as `{x}:{y}`.
    let arguments: String
    /// One line for help and documents.
    let help: String
    /// The properties that no other row has.
    package let properties: [Property]
    let key: [KeyPart]
    /// The arguments in a canonical address; `nil` for the standard value, and if another row writes it.
    let text: Text
    package let effects: @Sendable (Transform) -> Effects
    /// Multiplies what `dpr` applies to.
    let scale: (@Sendable (inout Transform, Double) -> Void)?
    package let isAllowedWithPresets: Bool
    /// Reads the arguments; `nil` if the grammar does that itself, because the option stands for others.
    package let read: Read?

    /// - Parameters:
    ///   - key: the parts of the cache key; by default `text`, with the short name.
    ///   - effects: those of a value that has a text.
    init(
        _ names: [String], arguments: String, help: String, properties: [Property] = [], key: [KeyPart]? = nil,
        text: Text? = nil, effects: Effects = [], when: (@Sendable (Transform) -> Bool)? = nil,
        scale: (@Sendable (inout Transform, Double) -> Void)? = nil, isAllowedWithPresets: Bool = false, read: Read?
    ) {
        self.names = names
        self.arguments = arguments
        self.help = help
        self.properties = properties
        self.key = key ?? text.map { [KeyPart(name: names[0], text: $0)] } ?? []
        self.text = text ?? { _ in nil }
        self.effects = { transform in
            guard !effects.isEmpty else { return [] }
            return when?(transform) ?? (text?(transform) != nil) ? effects : []
        }
        self.scale = scale
        self.isAllowedWithPresets = isAllowedWithPresets
        self.read = read
    }

    /// The option in the help of commands.
    var usage: String {
        let names = names.joined(separator: " ") + (arguments.isEmpty ? "" : ":" + arguments)
        return "  \(names)\n      \(help)"
    }

    /// The option as a row of a Markdown table.
    private var row: String {
        let form = ([names[0]] + (arguments.isEmpty ? [] : [arguments])).joined(separator: ":").pieces(at: "|").joined(
            separator: "\\|")
        return "| `\(form)` | \(names.dropFirst().map { "`\($0)`" }.joined(separator: " ")) | \(help) |"
    }

    /// All options as a Markdown table.
    package static var table: String {
        (["| option | other names | meaning |", "|---|---|---|"] + all.map(\.row)).joined(separator: "\n") + "\n"
    }
}

extension TransformOption {
    /// All options: the image, then the response. Canonical addresses have this order.
    package static let all = size + look + output + response

    /// The option with each name, long or short.
    package static let named = Dictionary(
        all.flatMap { option in option.names.map { ($0, option) } }, uniquingKeysWith: { first, _ in first })

    /// The short name of each option.
    package static let shortNames = all.map { $0.names[0] }

    /// The options of an image that is rendered from a file, for the help of a command. `skp` renders nothing.
    package static let usage = (size + look + output).filter { $0.names[0] != "skp" }.map(\.usage).joined(separator: "\n")

    /// The parts of the cache key in their order. The first ones precede those of all other rows, because stored entries have them there.
    fileprivate static let key: [KeyPart] = {
        let parts = all.flatMap(\.key)
        let first = ["crop", "rot", "ar", "trim", "zoom", "flip"]
        return first.flatMap { name in parts.filter { $0.name == name } } + parts.filter { !first.contains($0.name) }
    }()
}

extension Transform {
    /// The transform as text without defaults. Equal transforms have equal texts.
    public var canonicalText: String {
        var text = ""
        for part in TransformOption.key {
            guard let value = part.text(self) else { continue }
            if !text.isEmpty { text += "/" }
            text += part.name
            text += ":"
            text += value
        }
        return text
    }

    /// The transform as options in canonical order, without defaults and format.
    package var options: [String] {
        TransformOption.all.compactMap { option in option.text(self).map { "\(option.names[0]):\($0)" } }
    }

    /// What the options of the transform mean for others.
    package var effects: TransformOption.Effects {
        TransformOption.all.reduce(into: []) { $0.formUnion($1.effects(self)) }
    }

    /// The number of passes over the output's pixels after it is resampled.
    package var passes: Int { TransformOption.all.count { $0.effects(self).contains(.pass) } }

    /// Whether the image shows the whole original and nothing else.
    package var showsWhole: Bool { !effects.contains(.look) }

    /// The same transform for a screen with `ratio` pixels per point.
    package func multiplied(by ratio: Double) -> Transform {
        guard ratio != 1 else { return self }
        var scaled = self
        // The crop precedes resizing and is in pixels of the original, so the ratio does not apply to it.
        if crop?.gravity == nil { scaled.crop?.gravity = gravity.ofOriginal }
        for option in TransformOption.all { option.scale?(&scaled, ratio) }
        return scaled
    }
}

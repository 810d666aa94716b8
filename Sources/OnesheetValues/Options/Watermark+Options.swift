extension Transform.Watermark {
    /// Parses the arguments of `wm`: opacity, position, offsets and scale. `nil` for opacity 0, which draws nothing.
    /// - Parameters:
    ///   - present: has the values of empty and missing arguments.
    ///   - digest: of the server's watermark.
    init?(_ option: inout OptionArguments, or present: Self?, digest: String) throws(RequestError) {
        guard let opacity = try option.number(0...1) ?? present?.opacity else {
            throw .bad(option: option.name, value: option.all, reason: "needs an opacity from 0 to 1")
        }
        let position = try Self.position(&option) ?? present?.position ?? .compass(x: 0, y: 0)
        let offsets = -65_535.0...65_535.0
        let across = try option.number(offsets, or: present?.offsetX ?? 0)
        let down = try option.number(offsets, or: present?.offsetY ?? 0)
        let scale = try option.number(0...100, or: present?.scale ?? 0)
        guard opacity > 0 else { return nil }
        self.init(opacity: opacity, position: position, offsetX: across, offsetY: down, scale: scale, digest: digest)
    }

    private static func position(_ option: inout OptionArguments) throws(RequestError) -> Position? {
        guard let text = option.text() else { return nil }
        if text == "re" { return .repeated }
        guard let point = OptionArguments.compass[text] else {
            throw .bad(
                option: option.name, value: String(text), reason: "needs ce, no, so, ea, we, noea, nowe, soea, sowe or re")
        }
        return .compass(x: point.x, y: point.y)
    }

    /// The same watermark for a picture that is `ratio` times as large. Offsets below 1 are fractions and do not change.
    func multiplied(by ratio: Double) -> Self {
        func scaled(_ offset: Double) -> Double { abs(offset) < 1 ? offset : offset * ratio }
        var multiplied = self
        (multiplied.offsetX, multiplied.offsetY) = (scaled(offsetX), scaled(offsetY))
        return multiplied
    }

    /// The watermark as arguments of `wm`.
    var option: String {
        let place =
            switch position {
            case .compass(let x, let y): Gravity.compass(x: x, y: y).option
            case .repeated: "re"
            }
        return "\(opacity):\(place):\(offsetX):\(offsetY):\(scale)"
    }
}

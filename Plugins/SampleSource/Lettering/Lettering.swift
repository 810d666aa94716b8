/// Writes text on a canvas with a pen of constant width.
struct Lettering {
    /// The height of a capital, as a fraction of the poster's width.
    var size: Float
    /// The width of the pen, as a fraction of a capital's height.
    var weight: Float
    /// The space between letters, as a fraction of a capital's height.
    var spacing: Float

    /// The width of `text`.
    func width(of text: String) -> Float {
        let advances = text.map { advance($0) }
        return max(0, advances.reduce(0, +) - spacing * size)
    }

    /// The outlines of `text`; `origin` is the upper left corner of its first letter. Characters without a glyph leave a space.
    func path(of text: String, at origin: Point) -> Path {
        var path = Path()
        var x = origin.x
        for character in text {
            if let glyph = Self.glyph(character) {
                for stroke in glyph.placed(x: x, y: origin.y, width: glyph.width * size, height: size) {
                    path.add(Path.stroke(stroke, width: weight * size))
                }
            }
            x += advance(character)
        }
        return path
    }

    /// The same lettering, smaller if `text` would be wider than `limit`.
    func fitting(_ text: String, into limit: Float) -> Lettering {
        let width = width(of: text)
        guard width > limit else { return self }
        return Lettering(size: size * limit / width, weight: weight, spacing: spacing)
    }

    private func advance(_ character: Character) -> Float {
        ((Self.glyph(character)?.width ?? 0.28) + spacing) * size
    }

    private static func glyph(_ character: Character) -> GlyphStrokes? {
        HangulLetters.strokes(character) ?? character.uppercased().first.flatMap(LatinLetters.strokes)
    }
}

/// Writes text onto a canvas with a pen of one width.
struct Lettering {
    /// Height of a capital, in units of the poster's width.
    var size: Float
    /// Width of the pen by the height of a capital.
    var weight: Float
    /// Space between letters by the height of a capital.
    var spacing: Float

    /// How wide `text` becomes.
    func width(of text: String) -> Float {
        let advances = text.map { advance($0) }
        return max(0, advances.reduce(0, +) - spacing * size)
    }

    /// The outlines of `text`, its first letter's left top at `origin`. Characters without a glyph leave a space.
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

    /// The same lettering, smaller where `text` would be wider than `limit`.
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

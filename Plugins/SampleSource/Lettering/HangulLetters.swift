/// Hangul syllables, composed from their letters (Unicode, chapter 3.12: “Conjoining Jamo Behavior”).
enum HangulLetters {
    private static let initials = Array("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ")
    private static let finals = [
        "", "ㄱ", "ㄲ", "ㄱㅅ", "ㄴ", "ㄴㅈ", "ㄴㅎ", "ㄷ", "ㄹ", "ㄹㄱ", "ㄹㅁ", "ㄹㅂ", "ㄹㅅ", "ㄹㅌ", "ㄹㅍ", "ㄹㅎ", "ㅁ", "ㅂ", "ㅂㅅ", "ㅅ", "ㅆ", "ㅇ", "ㅈ",
        "ㅊ", "ㅋ", "ㅌ", "ㅍ", "ㅎ",
    ]

    /// The strokes of a syllable; `nil` if the character is not one.
    static func strokes(_ character: Character) -> GlyphStrokes? {
        guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1,
            (0xAC00...0xD7A3).contains(scalar.value)
        else { return nil }
        let index = Int(scalar.value - 0xAC00)
        let (initial, vowel, final) = (initials[index / 588], HangulVowel.all[index % 588 / 28], finals[index % 28])
        let layout = HangulLayout(vowel, hasFinal: !final.isEmpty)
        var glyph = GlyphStrokes(width: 0.94, "")
        glyph.strokes += consonants(String(initial), in: layout.initial)
        glyph.strokes += vowel.strokes(lying: layout.lying, standing: layout.standing)
        if let box = layout.final { glyph.strokes += consonants(final, in: box) }
        return glyph
    }

    /// One consonant, or two side by side.
    private static func consonants(_ letters: String, in box: HangulLayout.Box) -> [[Point]] {
        let doubled: [Character: String] = ["ㄲ": "ㄱㄱ", "ㄸ": "ㄷㄷ", "ㅃ": "ㅂㅂ", "ㅆ": "ㅅㅅ", "ㅉ": "ㅈㅈ"]
        let single = letters.flatMap { Array(doubled[$0] ?? String($0)) }
        let gap: Float = single.count > 1 ? 0.1 * box.width : 0
        let width = (box.width - gap) / Float(max(1, single.count))
        return single.enumerated().flatMap { place, letter in
            shapes[letter]?.placed(x: box.x + Float(place) * (width + gap), y: box.y, width: width, height: box.height) ?? []
        }
    }

    private static let shapes: [Character: GlyphStrokes] = [
        "ㄱ": "0,0 1,0 .98,.45 .85,1", "ㄴ": "0,0 0,1 1,1", "ㄷ": "1,0 0,0 0,1 1,1", "ㄹ": "0,0 1,0 1,.5 0,.5 0,1 1,1",
        "ㅁ": "0,0 1,0 1,1 0,1 0,0", "ㅂ": "0,0 0,1 1,1 1,0|0,.48 1,.48", "ㅅ": "~.5,0 .47,.35 .3,.7 0,1|~.47,.35 .65,.72 1,1",
        "ㅇ": "o.5,0 .15,.15 0,.5 .15,.85 .5,1 .85,.85 1,.5 .85,.15", "ㅈ": "0,0 1,0|~.52,0 .45,.4 .28,.72 0,1|~.45,.4 .65,.75 1,1",
        "ㅊ": "~.3,0 .7,.02|.02,.24 .98,.24|~.5,.24 .44,.55 .28,.8 0,1|~.45,.53 .65,.8 1,1",
        "ㅋ": "0,0 1,0 .98,.45 .85,1|0,.48 .96,.48",
        "ㅌ": "1,0 0,0 0,1 1,1|0,.5 .95,.5", "ㅍ": "0,0 1,0|0,1 1,1|.3,0 .3,1|.7,0 .7,1",
        "ㅎ": "~.32,0 .68,.02|0,.24 1,.24|o.5,.42 .26,.5 .16,.71 .26,.92 .5,1 .74,.92 .84,.71 .74,.5",
    ].mapValues { GlyphStrokes(width: 1, $0) }
}

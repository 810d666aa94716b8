/// A Hangul vowel: a lying part, a standing part, or both.
struct HangulVowel {
    let lying: GlyphStrokes?
    let standing: GlyphStrokes?

    private init(_ lying: String?, _ standing: String?) {
        self.lying = lying.map { GlyphStrokes(width: 1, $0) }
        self.standing = standing.map { GlyphStrokes(width: 1, $0) }
    }

    func strokes(lying box: HangulLayout.Box, standing tall: HangulLayout.Box) -> [[Point]] {
        (lying?.placed(x: box.x, y: box.y, width: box.width, height: box.height) ?? [])
            + (standing?.placed(x: tall.x, y: tall.y, width: tall.width, height: tall.height) ?? [])
    }

    /// In the order of Unicode.
    static let all: [HangulVowel] = {
        let (a, ae, eo, e, i) = (
            ".3,0 .3,1|.3,.46 1,.46", ".1,0 .1,1|.1,.46 .75,.46|.8,0 .8,1", ".7,0 .7,1|0,.46 .7,.46",
            ".5,0 .5,1|0,.46 .5,.46|.95,0 .95,1", ".55,0 .55,1"
        )
        let (o, u, eu) = ("0,1 1,1|.5,1 .5,0", "0,.1 1,.1|.5,.1 .5,1", "0,.55 1,.55")
        return [
            Self(nil, a), Self(nil, ae), Self(nil, ".3,0 .3,1|.3,.34 1,.34|.3,.6 1,.6"),
            Self(nil, ".1,0 .1,1|.1,.34 .75,.34|.1,.6 .75,.6|.8,0 .8,1"), Self(nil, eo), Self(nil, e),
            Self(nil, ".7,0 .7,1|0,.34 .7,.34|0,.6 .7,.6"), Self(nil, ".5,0 .5,1|0,.34 .5,.34|0,.6 .5,.6|.95,0 .95,1"),
            Self(o, nil), Self(o, a), Self(o, ae), Self(o, i), Self("0,1 1,1|.3,1 .3,0|.7,1 .7,0", nil), Self(u, nil),
            Self(u, eo), Self(u, e), Self(u, i), Self("0,.1 1,.1|.3,.1 .3,1|.7,.1 .7,1", nil), Self(eu, nil), Self(eu, i),
            Self(nil, i),
        ]
    }()
}

/// Where the letters of a syllable stand.
struct HangulLayout {
    struct Box {
        var x: Float
        var y: Float
        var width: Float
        var height: Float

        init(_ x: Float, _ y: Float, _ right: Float, _ bottom: Float) {
            (self.x, self.y, width, height) = (x, y, right - x, bottom - y)
        }
    }

    var initial: Box
    var lying = Box(0, 0, 0, 0)
    var standing = Box(0, 0, 0, 0)
    var final: Box?

    init(_ vowel: HangulVowel, hasFinal: Bool) {
        switch (vowel.lying != nil, vowel.standing != nil) {
        case (false, _):
            initial = hasFinal ? Box(0.04, 0.04, 0.5, 0.46) : Box(0.04, 0.14, 0.52, 0.8)
            standing = hasFinal ? Box(0.62, -0.02, 0.98, 0.56) : Box(0.62, -0.02, 0.98, 1.02)
        case (true, false):
            initial = hasFinal ? Box(0.18, 0, 0.82, 0.28) : Box(0.16, 0.04, 0.84, 0.48)
            lying = hasFinal ? Box(0, 0.36, 1, 0.54) : Box(0, 0.62, 1, 0.92)
        case (true, true):
            initial = hasFinal ? Box(0.04, 0, 0.56, 0.28) : Box(0.04, 0.06, 0.56, 0.46)
            lying = hasFinal ? Box(0, 0.36, 0.62, 0.54) : Box(0, 0.58, 0.62, 0.82)
            standing = hasFinal ? Box(0.68, -0.02, 1, 0.6) : Box(0.68, -0.02, 1, 1.02)
        }
        if hasFinal { final = Box(0.16, 0.68, 0.86, 1) }
    }
}

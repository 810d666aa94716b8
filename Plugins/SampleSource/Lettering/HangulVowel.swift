/// A Hangul vowel: a horizontal part, a vertical part, or both.
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

/// The positions of the letters of a syllable.
struct HangulLayout {
    struct Box {
        var x: Float
        var y: Float
        var width: Float
        var height: Float

        init(left: Float, top: Float, right: Float, bottom: Float) {
            x = left
            y = top
            width = right - left
            height = bottom - top
        }
    }

    var initial: Box
    var lying = Box(left: 0, top: 0, right: 0, bottom: 0)
    var standing = Box(left: 0, top: 0, right: 0, bottom: 0)
    var final: Box?

    init(_ vowel: HangulVowel, hasFinal: Bool) {
        switch (vowel.lying != nil, vowel.standing != nil) {
        case (false, _):
            initial =
                hasFinal
                ? Box(left: 0.04, top: 0.04, right: 0.5, bottom: 0.46) : Box(left: 0.04, top: 0.14, right: 0.52, bottom: 0.8)
            standing =
                hasFinal
                ? Box(left: 0.62, top: -0.02, right: 0.98, bottom: 0.56) : Box(left: 0.62, top: -0.02, right: 0.98, bottom: 1.02)
        case (true, false):
            initial =
                hasFinal
                ? Box(left: 0.18, top: 0, right: 0.82, bottom: 0.28) : Box(left: 0.16, top: 0.04, right: 0.84, bottom: 0.48)
            lying = hasFinal ? Box(left: 0, top: 0.36, right: 1, bottom: 0.54) : Box(left: 0, top: 0.62, right: 1, bottom: 0.92)
        case (true, true):
            initial =
                hasFinal
                ? Box(left: 0.04, top: 0, right: 0.56, bottom: 0.28) : Box(left: 0.04, top: 0.06, right: 0.56, bottom: 0.46)
            lying =
                hasFinal ? Box(left: 0, top: 0.36, right: 0.62, bottom: 0.54) : Box(left: 0, top: 0.58, right: 0.62, bottom: 0.82)
            standing =
                hasFinal ? Box(left: 0.68, top: -0.02, right: 1, bottom: 0.6) : Box(left: 0.68, top: -0.02, right: 1, bottom: 1.02)
        }
        if hasFinal { final = Box(left: 0.16, top: 0.68, right: 0.86, bottom: 1) }
    }
}

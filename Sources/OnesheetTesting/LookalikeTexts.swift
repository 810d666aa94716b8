/// Texts that people take for one, and Swift's texts too, and that origins, disks and databases tell apart: canonically equivalent ones
/// (Unicode Standard Annex #15).
public enum LookalikeTexts {
    public static let pairs: [(String, String)] = [
        // K and the sign of kelvin, which is nothing but a K.
        ("K", "\u{212A}"),
        // é as one character and as two.
        ("caf\u{E9}", "cafe\u{301}"),
        // A syllable and the letters that it is made of.
        ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
        // The order of two marks.
        ("a\u{323}\u{307}", "a\u{307}\u{323}"),
        // Å and the sign of ångström.
        ("\u{C5}", "\u{212B}"),
    ]
}

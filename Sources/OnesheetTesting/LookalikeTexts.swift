/// Texts that look the same and that Swift considers equal, but that origins, disks and databases distinguish: canonically
/// equivalent ones (Unicode Standard Annex #15).
public enum LookalikeTexts {
    public static let pairs: [(String, String)] = [
        // K and the Kelvin sign.
        ("K", "\u{212A}"),
        // é as one character and as two.
        ("caf\u{E9}", "cafe\u{301}"),
        // A Hangul syllable and its letters.
        ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
        // The order of two combining marks.
        ("a\u{323}\u{307}", "a\u{307}\u{323}"),
        // Å and the Ångström sign.
        ("\u{C5}", "\u{212B}"),
    ]
}

extension String {
    /// At most `bytes` bytes of UTF-8, with “…” if the text was cut. Cuts between Unicode scalars.
    package func shortened(to bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        let ellipsis = "…"
        var (kept, length) = (String.UnicodeScalarView(), ellipsis.utf8.count)
        for scalar in unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= bytes else { break }
            kept.append(scalar)
        }
        return String(kept) + ellipsis
    }
}

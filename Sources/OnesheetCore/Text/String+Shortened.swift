extension String {
    /// At most `bytes` bytes of UTF-8, and “…” if that is not all of it. What it cuts is whole characters of Unicode (scalars).
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

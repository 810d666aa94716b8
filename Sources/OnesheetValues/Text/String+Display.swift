extension String {
    /// The text with all characters escaped that break a log line or change its appearance.
    package var escaped: String { escaped { "\\u{\(String($0.value, radix: 16))}" } }

    /// Replaces each invisible character that has an effect by the result of `escape`: controls (including C1, which terminals
    /// interpret), line and paragraph separators, and marks such as those that change the direction of text.
    package func escaped(_ escape: (Unicode.Scalar) -> String) -> String {
        unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: escape(scalar)
            default: String(scalar)
            }
        }.joined()
    }
}

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

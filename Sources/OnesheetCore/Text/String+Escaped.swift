extension String {
    /// Without what breaks a log line or changes how it looks, so that nothing a client sends can.
    package var escaped: String { escaped { "\\u{\(String($0.value, radix: 16))}" } }

    /// With `escape` of each character that is not seen but does something: controls (C1 too, which terminals obey), ends of lines and
    /// paragraphs, and marks such as those that turn the direction of the text.
    package func escaped(_ escape: (Unicode.Scalar) -> String) -> String {
        unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: escape(scalar)
            default: String(scalar)
            }
        }.joined()
    }
}

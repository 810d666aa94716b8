internal import OnesheetCore

/// The HTML page of every view. Its script selects the view from the address.
package struct ConsolePage {
    /// The page's Content Security Policy: it may load only its own files and images, and may not change its base URL, be framed,
    /// or turn text into markup (Content Security Policy Level 3 §6.3, Trusted Types).
    package static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

    /// - Parameter plain: the address of the same view for browsers without scripts.
    package static func html(plain: String) -> String {
        let template = ConsoleAsset.all["index.html"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        return template.replacing(bytesOf: "{folder}", with: ConsoleAsset.folder).replacing(
            bytesOf: "{plain}", with: plain.html)
    }
}

extension String {
    /// The text with HTML's special characters escaped. Works on Unicode scalars, as browsers do: a character that joins `<` with a
    /// combining mark must not hide the `<`.
    package var html: String {
        var html = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "&": html.append(contentsOf: "&amp;".unicodeScalars)
            case "<": html.append(contentsOf: "&lt;".unicodeScalars)
            case ">": html.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": html.append(contentsOf: "&quot;".unicodeScalars)
            case "'": html.append(contentsOf: "&#39;".unicodeScalars)
            default: html.append(scalar)
            }
        }
        return String(html)
    }
}

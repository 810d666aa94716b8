internal import OnesheetCore

/// The page that every view begins with. Its script finds out from the address what to show.
package struct ConsolePage {
    /// What the page may load and run: its own files and pictures. Nothing in it changes where its addresses begin, stands in another
    /// page's frame, or makes markup of text (Content Security Policy Level 3 §6.3, Trusted Types).
    package static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

    /// - Parameter plain: the address of the same view without scripts.
    package static func html(plain: String) -> String {
        let template = ConsoleAsset.all["index.html"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        return template.replacing(bytesOf: "{folder}", with: ConsoleAsset.folder).replacing(
            bytesOf: "{plain}", with: plain.html)
    }
}

extension String {
    /// With the characters that mean something in HTML replaced, whatever stands around them: a mark before `<` that makes one character
    /// of both for people does not for a browser.
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

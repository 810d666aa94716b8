/// A title for logs and errors: if its id is a URL, the URL is shown as such. Other ids may have question marks of their own.
package func shown(_ title: TitleReference) -> String { shown(naming: title.description) }

/// A text for logs and errors that begins with a title, such as a cache key or a tag: the same as for the title.
package func shown(naming text: String) -> String {
    guard let separator = text.firstRange(ofBytesOf: "://") else { return shown(id: text) }
    let id = String(text[separator.upperBound...])
    return isURL(id) ? String(text[..<separator.upperBound]) + shown(id) : shown(id: text)
}

/// The id of a title for logs and errors.
package func shown(id: String) -> String { isURL(id) ? shown(id) : id }

/// Whether `text` is meant as a URL of the web, well-formed or not.
private func isURL(_ text: String) -> Bool {
    let start = String(decoding: text.utf8.prefix(8), as: UTF8.self).lowercasedASCII()
    return start.starts(withBytesOf: "http://") || start.starts(withBytesOf: "https://")
}

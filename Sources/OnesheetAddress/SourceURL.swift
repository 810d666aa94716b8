package import OnesheetCore

/// Finds which source answers a source URL.
package struct SourceURL {
    /// Sources by name, in the order of the configuration.
    package let sources: [(name: String, source: any ContentSource)]

    package init(sources: [(name: String, source: any ContentSource)]) { self.sources = sources }

    /// The title that `text` names: `{source}://{id}`, or an `http(s)` URL, which the first source with it on its allow-list answers.
    package func resolve(_ text: String) throws(RequestError) -> TitleReference {
        guard let separator = text.firstRange(ofBytesOf: "://") else {
            throw .malformed("“\(text)” is not a source URL such as sample://1 or https://…")
        }
        let scheme = String(text[..<separator.lowerBound])
        guard ["http", "https"].contains(scheme.lowercasedASCII()) else {
            let id = String(text[separator.upperBound...])
            guard !id.isEmpty else { throw .malformed("“\(text)” names no title") }
            return TitleReference(source: scheme, id: id).canonical(in: sources)
        }
        guard let url = WebURL(text) else { throw .malformed("“\(text)” is not a URL") }
        let answering = sources.first { $0.source.originPolicy.allow?.contains { $0.matches(url) } ?? false }
        guard let answering else { throw .forbidden("no remote source allows \(url); add its prefix to a source of type remote") }
        return TitleReference(source: answering.name, id: answering.source.canonicalID(url.description))
    }

    /// The title that a source URL in another dialect's path names: percent-encoded, or an `http(s)` URL as it stands, its query too.
    package func resolve(embedded text: Substring) throws(RequestError) -> TitleReference {
        if text.starts(withBytesOf: "http://") || text.starts(withBytesOf: "https://") { return try resolve(String(text)) }
        let decoded = try PercentEncoding.decode(text.cut(at: "?")?.before ?? text)
        // What stands before it is a part that its dialect does not know.
        guard TitleReference.isSourceName(decoded.cut(at: ":")?.before ?? decoded[...]) else {
            throw .malformed("“\(decoded)” is not a source URL such as sample://1 or https://…")
        }
        return try resolve(decoded)
    }
}

/// Resolves source URLs to titles.
package struct SourceURL {
    /// Sources by name, in configuration order.
    package let sources: [(name: String, source: any ContentSource)]

    /// Whether a URL is found too that no source allows: its images may be stored from a time when one did.
    private let findsForbidden: Bool

    package init(sources: [(name: String, source: any ContentSource)], findsForbidden: Bool = false) {
        self.sources = sources
        self.findsForbidden = findsForbidden
    }

    /// Resolves `{source}://{id}`, an `http(s)` URL that a source's allow-list contains, or `s3://{bucket}/{object}`. The first source that has it wins.
    package func resolve(_ text: String) throws(RequestError) -> FoundTitle {
        guard let separator = text.firstRange(ofBytesOf: "://") else {
            throw .malformed("“\(shown(path: text))” is not a source URL such as sample://1 or https://…")
        }
        let scheme = String(text[..<separator.lowerBound])
        guard ["http", "https"].contains(scheme.lowercasedASCII()) else {
            let id = String(text[separator.upperBound...])
            guard !id.isEmpty else { throw .malformed("“\(text)” names no title") }
            // A source of this name has ids of its own.
            if scheme.isExactly("s3"), sources.source(named: scheme) == nil { return try title(ofObject: id) }
            return FoundTitle(TitleReference(source: scheme, id: id), in: sources)
        }
        guard let url = WebURL(text) else { throw .malformed("“\(shown(text))” is not a URL") }
        let answering = sources.first { $0.source.originPolicy.allow?.contains { $0.matches(url) } ?? false }
        guard let answering else {
            return try forbidden(
                url, .forbidden("no remote source allows \(shown(url)); add its prefix to a source of type remote"))
        }
        return Self.title(url, of: answering)
    }

    private static func title(_ url: WebURL, of remote: (name: String, source: any ContentSource)) -> FoundTitle {
        FoundTitle(
            canonical: TitleReference(source: remote.name, id: remote.source.canonicalID(of: url)), source: remote.source)
    }

    /// The title of an object.
    /// - Parameter place: what is behind `s3://` in addresses of imgproxy.
    private func title(ofObject place: String) throws(RequestError) -> FoundTitle {
        if let (bucket, object) = place.cut(at: "/") {
            for (name, source) in sources {
                guard let id = source.canonicalID(ofObject: String(object), in: String(bucket)) else { continue }
                return FoundTitle(canonical: TitleReference(source: name, id: id), source: source)
            }
        }
        throw .forbidden(
            "no source has s3://\(shown(path: place)); add one of type s3 with this bucket, and “objects” that name such posters")
    }

    /// The title that `url` may have been.
    /// - Throws: `reason` if there is none, or it is not to be found.
    private func forbidden(_ url: WebURL, _ reason: RequestError) throws(RequestError) -> FoundTitle {
        let remotes = findsForbidden ? sources.filter { $0.source.originPolicy.allow != nil } : []
        guard let first = remotes.first else { throw reason }
        var found = Self.title(url, of: first)
        found.forbidden = .init(others: remotes.dropFirst().map { Self.title(url, of: $0) }, reason: reason)
        return found
    }

    /// Resolves a source URL inside a dialect's path: percent-encoded, or a plain `http(s)` URL with its query.
    package func resolve(embedded text: Substring) throws(RequestError) -> FoundTitle {
        if text.starts(withBytesOf: "http://") || text.starts(withBytesOf: "https://") { return try resolve(String(text)) }
        let decoded = try PercentEncoding.decode(text.cut(at: "?")?.before ?? text)
        // Otherwise the text before the source URL is an option that the dialect does not know.
        guard TitleReference.isSourceName(decoded.cut(at: ":")?.before ?? decoded[...]) else {
            throw .malformed("“\(shown(path: decoded))” is not a source URL such as sample://1 or https://…")
        }
        return try resolve(decoded)
    }
}

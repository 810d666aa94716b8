package import OnesheetValues

/// The path of a poster at a ladder size, such as `/t/p/w342/sample/1.jpg`.
package struct PosterPath {
    package let title: TitleReference
    package let transform: Transform
    /// Whether the client's `Accept` selects the format.
    package let negotiates: Bool
    /// The id that is the whole last part, in case the source has no title for the one without the extension.
    package let undividedID: String?
    /// The error if the source has no such title: the text after the last dot of its id is not a known extension.
    package let unknownExtension: RequestError?

    /// - Parameter path: the path after `/t/p/`, percent-encoded.
    package init(_ path: Substring, _ options: ImageOptions) throws(RequestError) {
        let path = MergedSlashes.merged(in: path)
        let parts = path.pieces(at: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else {
            throw .malformed("a poster is at /t/p/{size}/{source}/{id}.{extension}, such as /t/p/w342/sample/1.jpg")
        }
        var transform = try options.transform(size: parts[0])
        var id = parts[2]
        var unknown: RequestError?
        // Clients and proxies may turn %2E into a dot, so a dot may belong to the id.
        if let (name, format) = id.cut(atLast: "."), !format.contains(mark: "/") {
            do throws(RequestError) {
                transform.format = try options.format(format)
                id = name
            } catch {
                unknown = error
            }
        }
        title = TitleReference(source: try PercentEncoding.decode(parts[1]), id: try PercentEncoding.decode(id))
        // A known extension has no escapes.
        undividedID = transform.format == nil ? nil : "\(title.id)\(parts[2][id.endIndex...])"
        unknownExtension = unknown
        negotiates = transform.format == nil && parts[0] != "original"
        self.transform = transform
    }

    /// The whole path of a title's poster.
    /// - Parameters:
    ///   - size: a name of the ladder.
    ///   - format: `nil` if the client's `Accept` selects one.
    package static func text(of title: TitleReference, size: String, format: ImageFormat? = nil) -> String {
        let end = format?.extensions.first.map { ".\($0)" } ?? ""
        return "/t/p/\(size)/\(PercentEncoding.encode(title.source))/\(PercentEncoding.encode(id: title.id))\(end)"
    }
}

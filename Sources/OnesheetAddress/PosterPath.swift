package import OnesheetCore

/// The path of a poster at a ladder size, such as `/t/p/w342/sample/1.jpg`.
package struct PosterPath {
    package let title: TitleReference
    package let transform: Transform
    /// Whether the client's `Accept` selects the format.
    package let negotiates: Bool

    /// - Parameter path: the path after `/t/p/`, percent-encoded.
    package init(_ path: Substring, _ options: ImageOptions) throws(RequestError) {
        let parts = path.pieces(at: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else {
            throw .malformed("a poster is at /t/p/{size}/{source}/{id}.{extension}, such as /t/p/w342/sample/1.jpg")
        }
        var transform = try SizeLadder.transform(parts[0])
        var id = parts[2]
        if let (name, format) = id.cut(atLast: "."), !format.contains(mark: "/") {
            transform.format = try options.format(format)
            id = name
        }
        title = TitleReference(source: try PercentEncoding.decode(parts[1]), id: try PercentEncoding.decode(id))
        negotiates = transform.format == nil && parts[0] != "original"
        self.transform = transform
    }
}

package import OnesheetValues

/// The path of an image at a ladder size, such as `/t/p/w342/sample/1.jpg` for a poster, and `/t/p/w300.logo.ko.none/sample/1.png` for the
/// logo in the best of some languages.
package struct PosterPath {
    package let image: ImageReference
    package let transform: Transform
    /// Whether the client's `Accept` selects the format.
    package let negotiates: Bool
    /// The other meaning of the last part, in case the source has no such title: the id with its extension, in a format that is negotiated, or the
    /// id without it in that format.
    package let other: (id: String, format: ImageFormat?)?
    /// The error if the source has no such title: the text after the last dot of its id is not a known extension.
    package let unknownExtension: RequestError?

    /// - Parameter path: the path after `/t/p/`, percent-encoded.
    package init(_ path: Substring, _ options: ImageOptions) throws(RequestError) {
        let path = MergedSlashes.merged(in: path)
        let parts = path.pieces(at: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else {
            throw .malformed("a poster is at /t/p/{size}/{source}/{id}.{extension}, such as /t/p/w342/sample/1.jpg")
        }
        let size = try SizedImage(try PercentEncoding.decode(parts[0]))
        var transform = try options.transform(size: size.size)
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
        var title = TitleReference(source: try PercentEncoding.decode(parts[1]), id: try PercentEncoding.decode(id))
        if let format = transform.format {
            // A known extension has no escapes.
            let whole = "\(title.id)\(parts[2][id.endIndex...])"
            if Self.isURLOfFile(id, title.id) {
                other = (title.id, format)
                title = TitleReference(source: title.source, id: whole)
                transform.format = nil
            } else {
                other = (whole, nil)
            }
        } else {
            other = nil
        }
        image = ImageReference(title, size.selector)
        unknownExtension = unknown
        negotiates = transform.format == nil && size.size != "original"
        self.transform = transform
    }

    /// Whether the extension behind `id` is that of a file whose URL the id is, because the URL has no other. In addresses of this server, all dots
    /// of ids are escaped, so it is the format there.
    private static func isURLOfFile(_ id: Substring, _ decoded: String) -> Bool {
        guard decoded.isWebURL, id.contains(mark: "."),
            let file = decoded.cut(atLast: "/")?.after
        else { return false }
        return !file.isEmpty && !file.contains(mark: ".")
    }

    /// Refuses a query behind an id that is a URL, which is part of that URL as it was meant. In addresses of this server, which escape all dots
    /// of ids, it is not: there is no dot, or the one of the extension.
    /// - Parameter path: as for `init`, without the query.
    package static func refuseQuery(behind path: Substring) throws(RequestError) {
        let parts = MergedSlashes.merged(in: path).pieces(at: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return }
        let id = try PercentEncoding.decode(parts[2])
        guard id.isWebURL else { return }
        let file = id.cut(atLast: "/")?.after ?? ""
        switch parts[2].pieces(at: ".").count {
        case 1 where id.contains(mark: "."): return
        case 2 where file.pieces(at: ".").count > 2: return
        default: throw ImagePath.unwritable("?")
        }
    }

    /// Whether a path has one part behind the size. Then it names a file, not a title of a source.
    /// - Parameter path: as for `init`.
    package static func namesFile(_ path: Substring) -> Bool {
        guard let (_, file) = MergedSlashes.merged(in: path).cut(at: "/") else { return false }
        return !file.contains(mark: "/")
    }

    /// The whole path of a title's image.
    /// - Parameters:
    ///   - size: a name of the ladder.
    ///   - format: `nil` if the client's `Accept` selects one.
    package static func text(
        of title: TitleReference, _ selector: ImageSelector = .poster, size: String, format: ImageFormat? = nil
    ) -> String {
        let end = format?.extensions.first.map { ".\($0)" } ?? ""
        return
            "/t/p/\(SizedImage(size: size, selector: selector))/\(PercentEncoding.encode(title.source))/\(PercentEncoding.encode(id: title.id))\(end)"
    }
}

extension StringProtocol {
    /// Whether an id is the URL of a page or a file.
    package var isWebURL: Bool { starts(withBytesOf: "http://") || starts(withBytesOf: "https://") }
}

/// A size and the image that is meant, as in paths and in orders of prefetches: `w342` for the poster, `w780.backdrop`,
/// `w300.logo.ko.none`.
package struct SizedImage: CustomStringConvertible {
    package let size: String
    package let selector: ImageSelector

    package init(size: String, selector: ImageSelector) {
        self.size = size
        self.selector = selector
    }

    /// - Throws: `RequestError` if the text after the size is not a selector. The size is not checked.
    package init(_ text: some StringProtocol) throws(RequestError) {
        let text = Substring(text)
        let (size, selector) = text.cut(at: ".").map { ($0.before, $0.after) } ?? (text, "poster")
        self.init(size: String(size), selector: try ImageSelector(selector))
    }

    package var description: String { selector == .poster ? size : "\(size).\(selector)" }
}

public import OnesheetValues

/// The canonical path of a variant: a ladder size if one matches, or else a free transform with canonical options. The format is an
/// extension.
public struct CanonicalPath: Sendable {
    private let options: ImageOptions
    private let signature: Signature

    /// - Parameters:
    ///   - options: the option grammar of the server.
    ///   - signature: signs free transforms. Without keys, paths contain `unsafe` instead.
    public init(options: ImageOptions, signature: Signature) {
        self.options = options
        self.signature = signature
    }

    /// The path of a title's image with `transform`.
    /// - Parameters:
    ///   - selector: which image.
    ///   - expires: the expiry time of the path, in seconds since 1970.
    ///   - negotiates: whether the client's `Accept` selects the format of a free transform without one. There is no such path
    ///     otherwise.
    /// - Returns: `nil` if no path expresses the transform, for example if the server allows only presets.
    public func path(
        to title: TitleReference, _ selector: ImageSelector = .poster, as transform: Transform, expires: Int? = nil,
        negotiates: Bool = false
    ) -> String? {
        if let size = options.size(of: transform, for: selector.kind), expires == nil {
            return PosterPath.text(of: title, selector, size: size, format: transform.format)
        }
        var text = transform.options
        if !transform.findsQuality, options.plain.findsQuality, transform.quality == Transform.defaultQuality {
            text.append("q:\(transform.quality)")
        }
        if selector != .poster { text.append("im:\(selector.arguments)") }
        if let expires { text.append("exp:\(expires)") }
        let joined = text.joined(separator: "/")
        // A preset named `default` may set options that the text cannot reset.
        guard transform.format != nil || negotiates, isRead(joined, as: transform) else { return nil }
        let path = ImagePath.signedPath(options: joined, source: title.description, format: transform.format)
        return ImagePath.text(path, signedBy: signature)
    }

    private func isRead(_ text: String, as transform: Transform) -> Bool {
        do {
            var read = try options.parse(text).transform
            (read.format, read.isForAllClients) = (transform.format, transform.isForAllClients)
            return read == transform
        } catch {
            return false
        }
    }
}

extension ImageOptions {
    /// The name of the size with this transform.
    fileprivate func size(of transform: Transform, for kind: ImageKind) -> String? {
        guard transform.findsQuality == plain.findsQuality else { return nil }
        var rest = transform
        rest.findsQuality = false
        return SizeLadder.name(of: rest, for: kind)
    }
}

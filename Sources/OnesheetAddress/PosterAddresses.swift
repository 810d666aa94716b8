public import OnesheetValues

/// Makes the addresses of images for apps and sites, in the grammar with which the server reads them.
///
/// ```swift
/// let addresses = PosterAddresses(at: "https://posters.example")
/// addresses.poster(of: TitleReference(source: "sample", id: "1"), width: 114, scale: 3, format: .jpeg)
/// // https://posters.example/t/p/w342/sample/1.jpg
/// ```
public struct PosterAddresses: Sendable {
    private let base: String
    private let signature: Signature
    private let encryption: SourceEncryption?
    private let options: ImageOptions

    /// The formats that servers can encode. A server without the codec of one refuses its addresses.
    public static let formats: [ImageFormat] = [.jpeg, .png, .webp, .avif]

    /// - Parameters:
    ///   - base: the URL of the server, such as `https://posters.example`; empty makes paths.
    ///   - signature: signs free transforms. Without keys, addresses contain `unsafe` instead. Keys do not belong into an app that others
    ///     get: there they are for everyone.
    ///   - encryption: encrypts source URLs for `hiddenImage(of:options:format:)`.
    public init(at base: String, signature: Signature = Signature(keys: []), encryption: SourceEncryption? = nil) {
        self.init(at: base, signature: signature, encryption: encryption, options: .clients)
    }

    /// - Parameter options: a grammar of your own, such as one with the presets of your server.
    public init(
        at base: String, signature: Signature = Signature(keys: []), encryption: SourceEncryption? = nil, options: ImageOptions
    ) {
        var base = base[...]
        while base.last == "/" { base.removeLast() }
        self.base = String(base)
        self.signature = signature
        self.encryption = encryption
        self.options = options
    }

    /// The address of a title's poster in the smallest size of the ladder that is sharp.
    /// - Parameters:
    ///   - width: the width on the screen in points, or in CSS pixels.
    ///   - scale: the pixels of each point.
    ///   - format: the format; `nil` if the client's `Accept` selects one.
    public func poster(of title: TitleReference, width: Double, scale: Double = 1, format: ImageFormat? = nil) -> String {
        address(of: title, size: SizeLadder.name(forWidth: width, scale: scale), format)
    }

    /// The address of a title's poster in a size of the ladder.
    /// - Parameter size: one of `SizeLadder.names`.
    /// - Throws: `RequestError.unknown` with the nearest name.
    public func poster(of title: TitleReference, size: String, format: ImageFormat? = nil) throws(RequestError) -> String {
        _ = try SizeLadder.transform(size)
        return address(of: title, size: size, format)
    }

    /// The address of another image of a title, such as its logo in the best of some languages, in the smallest size of the ladder of its
    /// kind that is sharp.
    /// - Parameters:
    ///   - selector: the kind, and the languages if they are not those of the source's configuration.
    ///   - width: the width on the screen in points, or in CSS pixels.
    ///   - scale: the pixels of each point.
    ///   - format: the format; `nil` if the client's `Accept` selects one.
    public func image(
        _ selector: ImageSelector, of title: TitleReference, width: Double, scale: Double = 1, format: ImageFormat? = nil
    ) -> String {
        address(of: title, selector, size: SizeLadder.name(forWidth: width, scale: scale, of: selector.kind), format)
    }

    /// The address of another image of a title in a size.
    /// - Parameter size: one of `SizeLadder.names(of:)`, of any kind.
    /// - Throws: `RequestError.unknown` with the nearest name.
    public func image(
        _ selector: ImageSelector, of title: TitleReference, size: String, format: ImageFormat? = nil
    ) throws(RequestError) -> String {
        _ = try SizeLadder.transform(size)
        return address(of: title, selector, size: size, format)
    }

    private func address(
        of title: TitleReference, _ selector: ImageSelector = .poster, size: String, _ format: ImageFormat?
    ) -> String {
        base + PosterPath.text(of: title, selector, size: size, format: format)
    }

    /// The canonical address of a title's poster with a transform: equal transforms have equal addresses.
    /// - Parameter expires: the expiry time of the address, in seconds since 1970.
    /// - Returns: `nil` if no address expresses the transform, for example if it has a value that the grammar refuses.
    public func image(of title: TitleReference, as transform: Transform, expires: Int? = nil) -> String? {
        var transform = transform
        // Only the server knows its watermark; the address does not name it.
        transform.watermark?.digest = ""
        return CanonicalPath(options: options, signature: signature)
            .path(to: title, as: transform, expires: expires, negotiates: true).map { base + $0 }
    }

    /// The address of an image with options in imgproxy's grammar.
    /// - Parameters:
    ///   - source: a source URL: `sample://1`, or an `http` or `https` URL that a source of the server allows.
    ///   - options: such as `rs:fill:300:450/q:75`; they are checked.
    ///   - format: the format; `nil` if the options name it or the client's `Accept` selects one.
    /// - Throws: `RequestError` with the option that is unknown or has a bad value.
    public func image(of source: String, options text: String, format: ImageFormat? = nil) throws(RequestError) -> String {
        let path = try path(of: source, options: text, format)
        return base + ImagePath.text(path, signedBy: signature)
    }

    /// The same with an encrypted source URL, which only the server can read.
    /// - Throws: `RequestError`, also without keys for signing and encryption: servers require a signature here.
    public func hiddenImage(of source: String, options text: String, format: ImageFormat? = nil) throws(RequestError) -> String {
        let plain = try path(of: source, options: text, format)
        // `enc` is the first part without a colon.
        if let option = text.pieces(at: "/").first(where: { !$0.contains(mark: ":") }) {
            throw .malformed("the option “\(option)” has no colon, which a hidden source URL needs")
        }
        guard let encryption else { throw .forbidden("a hidden source URL needs a key for encryption") }
        let path: String
        do { path = try encryption.encrypting(path: plain) } catch {
            throw .malformed("the source URL cannot be encrypted: \(error)")
        }
        guard let signed = signature.sign(path) else { throw .forbidden("a hidden source URL needs a key for signatures") }
        return "\(base)/i/\(signed)\(path)"
    }

    private func path(of source: String, options text: String, _ format: ImageFormat?) throws(RequestError) -> String {
        guard source.firstRange(ofBytesOf: "://") != nil else {
            throw .malformed("“\(shown(path: source))” is not a source URL such as sample://1 or https://…")
        }
        _ = try options.parse(text)
        // A cache buster or a file name may have any text, and a question mark would end the path.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\"<>\\^`{|}".utf8.contains($0) }) else {
            throw .malformed("the options “\(text)” are not percent-encoded")
        }
        return ImagePath.signedPath(options: text, source: source, format: format)
    }
}

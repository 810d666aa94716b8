import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

/// The parsed, canonical address of an image in any dialect.
struct ImageAddress: Sendable {
    private(set) var image: ImageReference
    var title: TitleReference { image.title }
    /// The source of the title; `nil` if the configuration has none of its name.
    private(set) var source: (any ContentSource)?
    /// Set if the source does not allow the title, so only what is stored is served.
    private(set) var forbidden: FoundTitle.Forbidden?
    let transform: Transform
    /// Whether the client's `Accept` selects the format.
    let negotiates: Bool
    /// The expiry time of the path, in seconds since 1970.
    var expires: Int?
    /// The exact size of the image, with 0 for any width or height. `nil` if the image may be smaller than requested.
    var exactly: PixelSize?
    /// Whether any origin may read the pixels.
    var isShared = false
    /// How a browser shows the image; `nil` leaves it to the browser.
    var disposition: Disposition?
    /// The URL to which clients are redirected if there is no image.
    var fallback: String?
    /// Whether the client asks for the fallback image if there is no image.
    var wantsFallback: Bool?
    /// The parts of the address that have no effect.
    var ignored: [String] = []
    /// The limit that each request counts against.
    var limit: RequestLimit?
    /// Whether the source URL is encrypted in the address and must not be revealed to clients.
    var hidesSource = false
    /// The meaning of the path if its source has no such title.
    var ifMissing: Alternative?

    /// Another meaning of a path.
    enum Alternative {
        /// Another title of the source, with its id in the client's spelling, and the format of its image; see `ImageContext.other(_:)`.
        case other(id: String, ImageFormat?)
        case refused(RequestError)
    }

    init(
        _ found: FoundTitle, _ selector: ImageSelector = .poster, transform: Transform, negotiates: Bool, expires: Int? = nil,
        exactly: PixelSize? = nil,
        isShared: Bool = false
    ) {
        image = ImageReference(found.title, selector)
        source = found.source
        forbidden = found.forbidden
        self.transform = transform
        self.negotiates = negotiates
        self.expires = expires
        self.exactly = exactly
        self.isShared = isShared
    }

    /// The same address of another title.
    func of(_ found: FoundTitle) -> Self {
        var other = self
        (other.image, other.source) = (ImageReference(found.title, image.selector), found.source)
        return other
    }

    /// - Throws: `RequestError.expired` if the path expired before `now`, in seconds since 1970.
    func checkExpiry(at now: Double) throws(RequestError) {
        if let expires, expires > 0, Double(expires) < now { throw .expired(expires) }
    }

    /// Counts a request for the image.
    /// - Throws: a failure if `limit` is reached.
    func count() throws(Failure) {
        if let wait = limit?.count() { throw .keyIsUsedUp(retryAfter: wait) }
    }

    /// The canonical request.
    /// - Parameter format: the negotiated format. `nil` is the original's, which becomes JPEG or PNG if it is negotiated.
    func request(in format: ImageFormat?) -> ImageRequest {
        // A logo is drawn for a transparent ground. Without a format, it becomes JPEG only if it has none.
        let format = negotiates && image.selector.kind == .logo && format == .jpeg ? nil : format
        var transform = format.map { self.transform.encoded(in: $0) } ?? self.transform
        transform.isForAllClients = negotiates && format == nil
        return ImageRequest(image, transform)
    }

    /// - Throws: `RequestError.bad` if `variant` is smaller than the requested size.
    func checkSides(of variant: CacheEntry) throws(RequestError) {
        guard let exactly else { return }
        let made = variant.presentation
        for (made, side) in [(made.width, exactly.width), (made.height, exactly.height)] where side > 0 && made != side {
            throw .bad(option: "size", value: "\(side)", reason: "is larger than the region; images are not enlarged")
        }
    }
}

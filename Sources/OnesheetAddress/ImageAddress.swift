package import OnesheetValues

/// The parsed, canonical address of an image in any dialect.
package struct ImageAddress {
    package let title: TitleReference
    package let transform: Transform
    /// Whether the client's `Accept` selects the format.
    package let negotiates: Bool
    /// The expiry time of the path, in seconds since 1970.
    package var expires: Int?
    /// The exact size of the image, with 0 for any width or height. `nil` if the image may be smaller than requested.
    package var exactly: PixelSize?
    /// Whether any origin may read the pixels.
    package var isShared = false
    /// How a browser shows the image; `nil` leaves it to the browser.
    package var disposition: Disposition?
    /// The URL to which clients are redirected if there is no image.
    package var fallback: String?
    /// Whether the source URL is encrypted in the address and must not be revealed to clients.
    package var hidesSource = false
    /// The meaning of the path if its source has no such title.
    package var ifMissing: Alternative?

    /// Another meaning of a path.
    package indirect enum Alternative {
        case address(ImageAddress)
        case refused(RequestError)
    }

    package init(
        title: TitleReference, transform: Transform, negotiates: Bool, expires: Int? = nil, exactly: PixelSize? = nil,
        isShared: Bool = false
    ) {
        (self.title, self.transform, self.negotiates) = (title, transform, negotiates)
        (self.expires, self.exactly, self.isShared) = (expires, exactly, isShared)
    }

    /// - Throws: `RequestError.expired` if the path expired before `now`, in seconds since 1970.
    package func checkExpiry(at now: Double) throws(RequestError) {
        if let expires, expires > 0, Double(expires) < now { throw .expired(expires) }
    }
}

package import OnesheetCore

/// What an image's path says, in canonical form, whatever dialect it is in.
package struct ImageAddress {
    package let title: TitleReference
    package let transform: Transform
    /// Whether the client's `Accept` decides the format.
    package let negotiates: Bool
    /// When the path stops being valid, in seconds since 1970.
    package var expires: Int?
    /// What the outcome must measure, 0 for a side that is open; `nil` if a smaller one will do as well.
    package var exactly: PixelSize?
    /// Whether pages of every origin may read the pixels.
    package var isShared = false

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

import OnesheetCore
import OnesheetPipeline

/// What an image's path says, in canonical form, whatever dialect it is in.
struct ImageAddress {
    /// Pixels to each side; 0 leaves one open.
    struct Sides {
        let width: Int
        let height: Int
    }

    let title: TitleReference
    let transform: Transform
    /// Whether the client's `Accept` decides the format.
    let negotiates: Bool
    /// When the path stops being valid, in seconds since 1970.
    var expires: Int?
    /// What the outcome must measure; `nil` where a smaller one will do as well.
    var exactly: Sides?
    /// Whether pages of every origin may read the pixels.
    var isShared = false

    /// The canonical request; `format` is the one that was negotiated, if any.
    func request(in format: ImageFormat?) -> ImageRequest {
        var transform = transform
        if let format { transform.format = format }
        return ImageRequest(title, transform)
    }

    /// - Throws: `RequestError.expired` where the path was valid until some moment before `now`, in seconds since 1970.
    func checkExpiry(at now: Double) throws(RequestError) {
        if let expires, expires > 0, Double(expires) < now { throw .expired(expires) }
    }

    /// - Throws: `RequestError.bad` where `variant` is smaller than it must be.
    func checkSides(of variant: CacheEntry) throws(RequestError) {
        guard let exactly else { return }
        for (note, side) in [(Note.width, exactly.width), (Note.height, exactly.height)] where side > 0 {
            guard variant.notes[note] != "\(side)" else { continue }
            throw .bad(option: "size", value: "\(side)", reason: "is more than the region has; nothing is enlarged")
        }
    }
}

/// A part of the address space that names images, in a grammar of its own.
protocol ImageDialect: Route {
    var installation: Installation { get }
    /// Whether the query belongs to the address.
    var readsQuery: Bool { get }

    /// Reads what follows the prefix, percent-encoded, with the query where it is read, and checks the signature where there is one.
    func address(_ rest: Substring) throws(RequestError) -> ImageAddress
}

extension ImageDialect {
    var readsQuery: Bool { false }
}

import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

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

extension ImageAddress {
    /// The canonical request; `format` is the one that was negotiated, if any.
    func request(in format: ImageFormat?) -> ImageRequest {
        var transform = transform
        if let format { transform.format = format }
        return ImageRequest(title, transform)
    }

    /// - Throws: `RequestError.bad` where `variant` is smaller than it must be.
    func checkSides(of variant: CacheEntry) throws(RequestError) {
        guard let exactly else { return }
        let made = variant.presentation
        for (made, side) in [(made.width, exactly.width), (made.height, exactly.height)] where side > 0 && made != side {
            throw .bad(option: "size", value: "\(side)", reason: "is more than the region has; nothing is enlarged")
        }
    }
}

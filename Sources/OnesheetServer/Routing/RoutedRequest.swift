import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// A request whose route is known, with what was found on the way there.
struct RoutedRequest: Sendable {
    /// An image's address, once it was read.
    enum Image: Sendable {
        /// The address cannot be read, or asks for what is not allowed.
        case refused(any Error)
        /// What it asks for, and how far looking it up came.
        case parsed(ParsedTarget, CacheLookUp)
    }

    let table: RouteTable
    let entry: RouteTable.Entry
    /// Without the query, percent-encoded.
    let path: String
    private(set) var image: Image?

    init(table: RouteTable, entry: RouteTable.Entry, path: String) { (self.table, self.entry, self.path) = (table, entry, path) }

    /// What follows the route's prefix.
    var rest: Substring { path.dropFirst(bytes: entry.route?.prefix.utf8.count ?? 0) }

    func with(_ image: Image) -> RoutedRequest {
        var copy = self
        copy.image = image
        return copy
    }
}

/// What an image's address asks for: read, checked and in canonical form.
struct ParsedTarget: Sendable {
    let address: ImageAddress
    /// With the format that was negotiated, if any.
    let request: ImageRequest
    /// What holds for every response.
    let facts: AddressFacts
}

extension ImageAddress {
    /// The canonical request; `format` is the one that was negotiated, if any.
    func request(in format: ImageFormat?) -> ImageRequest {
        var transform = transform
        if let format { transform.format = format }
        return ImageRequest(title, transform)
    }

    /// - Throws: `RequestError.bad` if `variant` is smaller than it must be.
    func checkSides(of variant: CacheEntry) throws(RequestError) {
        guard let exactly else { return }
        let made = variant.presentation
        for (made, side) in [(made.width, exactly.width), (made.height, exactly.height)] where side > 0 && made != side {
            throw .bad(option: "size", value: "\(side)", reason: "is more than the region has; nothing is enlarged")
        }
    }
}

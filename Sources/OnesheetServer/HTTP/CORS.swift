import HTTPTypes
import OnesheetCore

/// Sets the CORS fields of responses (the Fetch standard's CORS protocol).
struct CORS {
    let configuration: CORSConfiguration

    /// - Parameter origin: the request's `Origin`.
    func apply(to fields: inout HTTPFields, origin: String?) {
        if let policy = configuration.resourcePolicy.field, fields[.contentType]?.isOfImage ?? false {
            fields[.crossOriginResourcePolicy] = policy
        }
        let origins = configuration.origins
        guard !origins.isEmpty else { return }
        let isOpen = origins.contains("*")
        // Caches must store a response per origin.
        if !isOpen { fields[.vary] = fields[.vary].map { "\($0), Origin" } ?? "Origin" }
        guard isOpen || origins.contains(where: { $0.isExactly(origin ?? "") }) else { return }
        fields[.accessControlAllowOrigin] = isOpen ? "*" : origin
        fields[.accessControlExposeHeaders] =
            "ETag, Cache-Status, Server-Timing, Retry-After, Onesheet-ThumbHash, Onesheet-Color, Onesheet-Size, Onesheet-Ignored, "
            + "Onesheet-Fallback, X-Request-Id"
    }

    /// The fields of a preflight response. Empty if `request` is not a preflight.
    /// - Parameter isOpen: whether every origin may send the request.
    func preflight(_ request: HTTPFields, _ methods: [String], isOpen: Bool) -> HTTPFields {
        guard isOpen || !configuration.origins.isEmpty, request[.accessControlRequestMethod] != nil else { return [:] }
        var fields: HTTPFields = [
            .accessControlAllowMethods: methods.joined(separator: ", "),
            .accessControlAllowHeaders: "Authorization, Content-Type, If-None-Match, Range, X-Request-Id",
            .accessControlMaxAge: "86400",
        ]
        if isOpen {
            // Clients name keys in fields such as `X-Emby-Token`. The star is every field but `Authorization`.
            fields[.accessControlAllowHeaders] = "*, Authorization"
            fields[.accessControlAllowOrigin] = "*"
        }
        return fields
    }
}

extension String {
    /// Whether this is the media type of an image, or of parts of one.
    fileprivate var isOfImage: Bool { starts(withBytesOf: "image/") || starts(withBytesOf: "multipart/byteranges") }
}

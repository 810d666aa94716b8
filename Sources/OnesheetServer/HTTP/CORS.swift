import HTTPTypes
import OnesheetCore

/// Tells browsers which pages may read an answer (the Fetch standard's CORS protocol).
struct CORS {
    let configuration: CORSConfiguration

    /// - Parameter origin: the request's `Origin`.
    func apply(to fields: inout HTTPFields, origin: String?) {
        let origins = configuration.origins
        guard !origins.isEmpty else { return }
        let isOpen = origins.contains("*")
        // Whoever keeps the answer has to know that it is another one for another page.
        if !isOpen { fields[.vary] = fields[.vary].map { "\($0), Origin" } ?? "Origin" }
        guard isOpen || origins.contains(where: { $0.isExactly(origin ?? "") }) else { return }
        fields[.accessControlAllowOrigin] = isOpen ? "*" : origin
        fields[.accessControlExposeHeaders] =
            "ETag, Cache-Status, Server-Timing, Retry-After, Onesheet-ThumbHash, Onesheet-Color, Onesheet-Size, X-Request-Id"
    }

    /// What a browser asks before it sends a request that is not simple; nothing where `request` does not ask.
    func preflight(_ request: HTTPFields, _ methods: [String]) -> HTTPFields {
        guard !configuration.origins.isEmpty, request[.accessControlRequestMethod] != nil else { return [:] }
        return [
            .accessControlAllowMethods: methods.joined(separator: ", "),
            .accessControlAllowHeaders: "Authorization, Content-Type, If-None-Match, Range, X-Request-Id",
            .accessControlMaxAge: "86400",
        ]
    }
}

import OnesheetHTTP
import OnesheetAddress
import Hummingbird
import HTTPTypes
import OnesheetCore
import OnesheetPipeline

/// IIIF Image API 3.0: `/iiif/3/{identifier}/{region}/{size}/{rotation}/{quality}.{format}` and `/iiif/3/{identifier}/info.json`;
/// the identifier is a source URL, percent-encoded.
struct IIIFRoute: ImageRoute {
    let prefix = "/iiif/3/"
    let images: ImageContext
    let installation: Installation

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let parts = rest.pieces(at: "/", omittingEmptySubsequences: false)
        guard parts.count != 1, parts.count != 2 || parts[1] != "info.json" else { return nil }
        guard parts.count == 5 else {
            throw .malformed(
                "an IIIF image is /iiif/3/{identifier}/{region}/{size}/{rotation}/{quality}.{format}, such as "
                    + "/iiif/3/sample%3A%2F%2F1/full/342,/0/default.jpg")
        }
        let title = try title(parts[0])
        let read = try IIIFPath(parts.dropFirst())
        return ImageAddress(
            title: title, transform: try images.options.transform(read.options), negotiates: false, exactly: read.exactly,
            isShared: true)
    }

    func other(_ rest: Substring, _ request: Request) async throws -> Response {
        let parts = rest.pieces(at: "/", omittingEmptySubsequences: false)
        if parts.count == 1 {
            _ = try title(parts[0])
            return Response(
                status: .seeOther, headers: [.location: "\(prefix)\(parts[0])/info.json", .accessControlAllowOrigin: "*"])
        }
        let size = try await images.pipeline.size(of: try title(parts[0]))
        let host = request.head.authority ?? installation.configuration.listen.description
        // Behind a proxy that ends TLS, only the proxy knows how it was reached.
        let saysSecure = request.headers[.forwardedProto] == "https" && ClientRequest.current?.isFromProxy ?? true
        let isSecure = installation.configuration.tls != nil || saysSecure
        let document = IIIFDocument(
            id: "\(isSecure ? "https" : "http")://\(host)\(prefix)\(parts[0])", width: size.width, height: size.height,
            formats: images.accept.formats, isFree: !installation.configuration.presetsOnly,
            maxArea: installation.configuration.limits.limits.outputPixels)
        var response = try Response.json(document, type: "application/ld+json;profile=\"\(IIIFDocument.context)\"")
        response.headers[.accessControlAllowOrigin] = "*"
        return response
    }

    private func title(_ identifier: Substring) throws(RequestError) -> TitleReference {
        try images.signature.checkUnsigned()
        return try SourceURL(sources: images.sources).resolve(embedded: identifier)
    }
}

import OnesheetHTTP
import OnesheetAddress
import FoundationEssentials
import Hummingbird
import OnesheetCore
import OnesheetPipeline

/// `/t/p/{size}/{source}/{id}[.{ext}]`
struct PosterRoute: ImageDialect {
    let prefix = "/t/p/"
    let installation: Installation

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress {
        let path = try PosterPath(rest, installation.options)
        return ImageAddress(
            title: path.title.canonical(in: installation.sources), transform: path.transform, negotiates: path.negotiates)
    }
}

/// `/i/{signature}/{options}/plain/{source-url}[@{ext}]` and `/i/{signature}/{options}/{base64url source-url}[.{ext}]`
struct ImageRoute: ImageDialect {
    let prefix = "/i/"
    let installation: Installation

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress {
        let path = try ImagePath(rest, installation.options)
        try installation.signature.check(path.signature, of: path.signedPath)
        let title = try SourceURL(sources: installation.sources).resolve(path.sourceURL)
        return ImageAddress(
            title: title, transform: path.options.transform, negotiates: path.negotiates, expires: path.options.expires)
    }
}

extension ImageDialect {
    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let query = readsQuery ? (request.head.path ?? "").cut(at: "?").map { "?\($0.after)" } ?? "" : ""
        return try await image(at: try address(rest + query), request)
    }

    /// From the canonical request to the response; all dialects end here.
    func image(at address: ImageAddress, _ request: Request) async throws -> Response {
        let clock = installation.clock
        try address.checkExpiry(at: clock.now.timeIntervalSince1970)
        let wanted = address.request(in: address.negotiates ? installation.accept.choose(request.headers[.accept]) : nil)
        let answer = try await installation.pipeline.image(for: wanted)
        try address.checkSides(of: answer.entry)
        let image = ImageResponse(answer: answer, address: installation.facts(of: address, for: wanted))
        let response = image.response(to: request.method, request.headers, at: clock.now)
        if request.method == .get, response.status.kind == .successful {
            try ClientRequest.current?.hold(answer.entry.body, isInTier: answer.isFromMemory)
        }
        return response
    }
}

extension Installation {
    /// What holds for every answer to `request` at `address`.
    func facts(of address: ImageAddress, for request: ImageRequest) -> AddressFacts {
        AddressFacts(
            varies: address.negotiates, isShared: address.isShared,
            isVersioned: sources.first { $0.name.isExactly(request.title.source) }?.source.isVersioned ?? false,
            canonical: CanonicalPath(options: options, signature: signature).path(
                to: request.title, as: request.transform, expires: address.expires))
    }
}

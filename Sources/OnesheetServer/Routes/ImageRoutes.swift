import FoundationEssentials
import Hummingbird
import OnesheetCore
import OnesheetPipeline

/// `/t/p/{size}/{source}/{id}[.{ext}]`
struct PosterRoute: Route {
    let prefix = "/t/p/"
    let installation: Installation

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let path = try PosterPath(rest, installation.options)
        return try await installation.image(path.title, path.transform, negotiates: path.negotiates, for: request)
    }
}

/// `/i/{signature}/{options}/plain/{source-url}[@{ext}]` and `/i/{signature}/{options}/{base64url source-url}[.{ext}]`
struct ImageRoute: Route {
    let prefix = "/i/"
    let installation: Installation

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        let path = try ImagePath(rest, installation.options)
        try installation.signature.check(path.signature, of: path.signedPath)
        if let expires = path.options.expires, expires > 0, Double(expires) < installation.clock.now.timeIntervalSince1970 {
            throw RequestError.expired(expires)
        }
        let title = try SourceURL(sources: installation.sources).resolve(path.sourceURL)
        return try await installation.image(title, path.options.transform, negotiates: path.negotiates, for: request)
    }
}

extension Installation {
    /// From the canonical request to the response; both dialects end here.
    func image(
        _ title: TitleReference, _ transform: Transform, negotiates: Bool, for request: Request
    ) async throws -> Response {
        var transform = transform
        if negotiates { transform.format = accept.choose(request.headers[.accept]) }
        let answer = try await pipeline.image(for: ImageRequest(title, transform))
        return ImageResponse(answer: answer, varies: negotiates).response(to: request, at: clock.now)
    }
}

import Crypto
import FoundationEssentials
import Hummingbird
import HTTPTypes
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// `/cache/stats`, and `DELETE /cache/{source}[/{id}]`; for the administrator.
struct CacheRoute: Route {
    let prefix = "/cache/"
    let methods: [HTTPRequest.Method] = [.get, .head, .delete]
    let installation: Installation

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        try installation.requireAdministrator(request)
        guard request.method == .delete else {
            guard rest == "stats" else { throw RequestError.noSuchPath(request.uri.path) }
            return .json(await installation.cache.statistics())
        }
        let parts = rest.split(separator: "/", maxSplits: 1)
        guard let name = parts.first else { throw RequestError.noSuchPath(request.uri.path) }
        let source = try PercentEncoding.decode(name)
        guard installation.configuration.sources[source] != nil else {
            throw RequestError.unknown(unknownName(source, kind: "source", known: installation.configuration.sourceNames))
        }
        let tag =
            parts.count > 1
            ? CacheTag.title(TitleReference(source: source, id: try PercentEncoding.decode(parts[1]))) : .source(source)
        return .json(try await installation.pipeline.purge(.tag(tag), dryRun: request.uri.queryParameters["dry-run"] != nil))
    }
}

extension Installation {
    /// - Throws: `RequestError.unauthorized` unless the request carries the administrator's bearer token (RFC 6750 §2.1).
    func requireAdministrator(_ request: Request) throws(RequestError) {
        guard let token = configuration.admin.token, !token.isEmpty, let header = request.headers[.authorization],
            header.hasPrefix("Bearer ")
        else { throw .unauthorized }
        // Digests have one length and are compared in constant time.
        guard SHA256.hash(data: Data(header.dropFirst(7).utf8)) == SHA256.hash(data: Data(token.utf8)) else { throw .unauthorized }
    }
}

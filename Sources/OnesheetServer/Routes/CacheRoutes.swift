import OnesheetAddress
import Crypto
import FoundationEssentials
import Hummingbird
import HTTPTypes
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// `/cache/stats`, `POST /cache/verify[?repair]`, and `DELETE /cache/{source}[/{id}]` or `DELETE /cache/?tag=…`, `?expired`, `?all`; for
/// the administrator.
struct CacheRoute: Route {
    let prefix = "/cache/"
    let methods: [HTTPRequest.Method] = [.get, .head, .post, .delete]
    let installation: Installation

    func answer(_ rest: Substring, _ request: Request) async throws -> Response {
        try installation.requireAdministrator(request)
        let query = request.uri.queryParameters
        switch (request.method, rest) {
        case (.delete, _):
            let selection = rest.isEmpty ? try selection(inQueryOf: request) : try selection(rest, request.uri.path)
            return try .json(try await installation.pipeline.purge(selection, dryRun: query["dry-run"] != nil))
        case (.post, "verify"):
            return try .json(try await installation.disk.verify(repair: query["repair"] != nil))
        case (.get, "stats"), (.head, "stats"):
            let now = installation.clock.now
            return try .json(await installation.cache.statistics().mapValues { CacheDocument($0, at: now) })
        default: throw RequestError.noSuchPath(request.uri.path)
        }
    }

    /// What `{source}[/{id}]` selects.
    private func selection(_ rest: Substring, _ path: String) throws -> CacheSelection {
        let parts = rest.pieces(at: "/", maxSplits: 1)
        guard let name = parts.first else { throw RequestError.noSuchPath(path) }
        let source = try PercentEncoding.decode(name)
        guard installation.configuration.sources[source] != nil else {
            throw RequestError.unknown(unknownName(source, kind: "source", known: installation.configuration.sourceNames))
        }
        guard parts.count > 1 else { return .tag(.source(source)) }
        let title = TitleReference(source: source, id: try PercentEncoding.decode(parts[1]))
        return .tag(.title(title.canonical(in: installation.sources)))
    }

    /// What the query selects: one thing, named. Nothing named is nothing, never everything.
    private func selection(inQueryOf request: Request) throws -> CacheSelection {
        let query = request.uri.queryParameters
        var named: [CacheSelection] = []
        if let tag = query["tag"] { named.append(.tag(CacheTag(String(tag)))) }
        if query["expired"] != nil { named.append(.expired) }
        if query["all"] != nil { named.append(.all) }
        guard named.count == 1 else { throw RequestError.noSuchPath(request.uri.path) }
        return named[0]
    }
}

extension Installation {
    /// - Throws: `RequestError.unauthorized` unless the request carries the administrator's bearer token (RFC 6750 §2.1).
    func requireAdministrator(_ request: Request) throws(RequestError) {
        guard let token = configuration.admin.token, !token.isEmpty, let header = request.headers[.authorization],
            header.starts(withBytesOf: "Bearer ")
        else { throw .unauthorized }
        // Digests have one length and are compared in constant time.
        guard SHA256.hash(data: Data(header.utf8.dropFirst(7))) == SHA256.hash(data: Data(token.utf8)) else { throw .unauthorized }
        ClientRequest.current?.free()
    }
}

import OnesheetAddress
import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// `/cache/stats`, `POST /cache/verify[?repair]`, and `DELETE /cache/{source}[/{id}]` or `DELETE /cache/?tag=…`, `?url=…`,
/// `?expired`, `?all`. Requires the administrator's token.
struct CacheRoute: Route {
    let prefix = "/cache/"
    let isSlashOptional = true
    let methods: [HTTPTypes.HTTPRequest.Method] = [.get, .head, .post, .delete]
    let cache: Cache
    let disk: DiskTier
    /// Sources by name, in configuration order.
    let sources: [(name: String, source: any ContentSource)]
    let explainer: Explainer
    let administrator: Administrator
    let clock: WallClock

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try administrator.check(context)
        switch (context.method, rest) {
        case (.delete, _):
            let query = try context.request.checkedQuery(flags: ["all", "expired", "dry-run"], values: ["tag", "url"])
            let selection = rest.isEmpty ? try await selection(in: query) : try await selection(rest, without: query)
            let isDryRun = query["dry-run"] != nil
            return try .json(try await isDryRun ? cache.count([selection]) : cache.purge([selection]).finished())
        case (.post, "verify"):
            let query = try context.request.checkedQuery(flags: ["repair"])
            return try .json(try await disk.verify(repair: query["repair"] != nil))
        case (.get, "stats"), (.head, "stats"):
            let now = clock.now
            return try .json(await cache.statistics().mapValues { CacheDocument($0, at: now) })
        default: throw RequestError.noSuchPath(prefix + rest)
        }
    }

    /// Parses the selection in the path `{source}[/{id}]`. The query must not name another one.
    private func selection(
        _ rest: Substring, without query: FlatDictionary<Substring, Substring>
    ) async throws -> CacheSelection {
        if let other = ["all", "expired", "tag", "url"].first(where: { query[$0[...]] != nil }) {
            throw RequestError.malformed("“\(other)” in the query and a source in the path cannot be combined")
        }
        // An empty part stays: without it, `{source}/` would be the whole source.
        let parts = rest.pieces(at: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty else { throw RequestError.noSuchPath(prefix + rest) }
        let source = try PercentEncoding.decode(name)
        guard let plugin = sources.source(named: source) else {
            throw Failure.unknownSource(source, known: sources.map(\.name))
        }
        var id: String?
        if parts.count > 1 {
            guard !parts[1].isEmpty else {
                throw RequestError.malformed(
                    "the id is missing after “\(source)/”; without the slash, the path names the whole source")
            }
            let found = FoundTitle(TitleReference(source: source, id: try PercentEncoding.decode(parts[1])), in: sources)
            id = try await explainer.images.pipeline.own(found.title, from: plugin).id
        }
        return try Self.only(CacheSelection(source: source, id: id))
    }

    /// Parses the selection in the query. The query must name exactly one, so an empty query never selects everything.
    private func selection(in query: FlatDictionary<Substring, Substring>) async throws -> CacheSelection {
        let tag = query["tag"].map(String.init)
        if tag?.isEmpty ?? false {
            throw RequestError.bad(option: "tag", value: "", reason: "is not a tag; write one such as source:sample")
        }
        if let url = query["url"] {
            guard tag == nil, query["expired"] == nil, query["all"] == nil else { return try Self.only(nil) }
            return .tag(.title(try await explainer.title(at: String(url))))
        }
        return try Self.only(CacheSelection(tag: tag, expired: query["expired"] != nil, all: query["all"] != nil))
    }

    private static func only(_ selection: CacheSelection?) throws(RequestError) -> CacheSelection {
        if let selection { return selection }
        throw .malformed("the query needs exactly one of “all”, “expired” and “tag”, or a “url”, such as ?tag=source:sample")
    }
}

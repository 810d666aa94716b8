import FoundationEssentials
import OnesheetAddress
import OnesheetCache
package import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// Explains addresses of images: what they request, what the cache has, and how the image was last made.
package struct Explainer: Sendable {
    /// The image routes, in order of precedence.
    let routes: [any ImageRoute]
    let images: ImageContext

    /// The extent of an explanation.
    package struct Depth: Sendable {
        /// Whether to make the image if necessary, as a request for its address does.
        package var fetches = false
        /// Whether to count the entries that a purge of the title would remove. The count reveals the requests of others, so only the
        /// administrator gets it.
        package var countsPurge = false
        /// Whether to explain addresses that hide their source URL.
        package var revealsSources = false

        package init(fetches: Bool = false, countsPurge: Bool = false, revealsSources: Bool = false) {
            self.fetches = fetches
            self.countsPurge = countsPurge
            self.revealsSources = revealsSources
        }
    }

    /// Explains `address`: a path of this server, or a whole URL, whose host is ignored. `source://id` stands for the poster of that title
    /// in the size of a wall (`w342`).
    ///
    /// The address must be valid for the image itself: correctly signed and not expired.
    /// - Parameter accept: the `Accept` field of the client.
    /// - Throws: `RequestError` and `Failure`, as a request for the image does. If that would be redirected to the fallback of
    ///   the address, the explanation has the failure instead.
    package func explain(_ address: String, accept: String?, _ depth: Depth) async throws -> ExplanationDocument {
        let now = images.clock.now
        let (route, read) = try read(address, at: now)
        guard !read.hidesSource || depth.revealsSources else {
            throw RequestError.forbidden("this address hides its source URL, so only the administrator gets an explanation")
        }
        var target = await target(read, accept: accept)
        if let forbidden = read.forbidden, await !isCached(target) { throw forbidden.reason }
        var fetched: ImageAnswer?
        var failure: String?
        if depth.fetches {
            do {
                let made = try await images.image(of: target, accept: accept)
                (target, fetched) = (made.target, made.answer)
            } catch {
                guard ImageContext.fallback(of: target, after: error) != nil else { throw error }
                failure = Problem(error, at: now.timeIntervalSince1970).detail
            }
        }
        guard target.address.source != nil else { throw images.pipeline.unknownSource(of: target.request.title) }
        target = images.target(target, of: await images.pipeline.knownOwn(target.request.title))
        let found = try await images.pipeline.explain(target.request)
        let tag = CacheTag.title(target.request.title)
        let purge = depth.countsPurge ? try await images.pipeline.cache.count([.tag(tag)]) : nil
        return ExplanationDocument(
            found, of: target, grammar: route.grammar, fetched: fetched, failure: failure, purge: purge.map { (tag, $0) },
            at: images.clock.now)
    }

    /// The title whose image `address` shows, with its canonical id. The address is one that `explain` takes.
    package func title(at address: String) async throws -> TitleReference {
        let target = images.target(try read(address, at: images.clock.now).address, accept: nil)
        return try await images.pipeline.own(target.request.title, from: target.address.source)
    }

    private func read(_ address: String, at now: Date) throws -> (route: any ImageRoute, address: ImageAddress) {
        let (path, query) = Self.parts(of: try poster(address) ?? address)
        let matches = [false, true].lazy.flatMap { merging in
            routes.lazy.compactMap { route in route.rest(of: path, merging: merging).map { (route, $0) } }
        }
        guard let (route, rest) = matches.first else { throw RequestError.noSuchPath(path) }
        guard let read = try route.read(rest, query: query, at: now, counts: false) else {
            throw RequestError.malformed("“\(path)” is the address of a document, not of an image")
        }
        return (route, read)
    }

    /// The path of a title's poster, if `address` is `source://id`.
    private func poster(_ address: String) throws -> String? {
        guard let end = address.firstRange(ofBytesOf: "://")?.lowerBound, TitleReference.isSourceName(address[..<end]),
            !["http", "https"].contains(String(address[..<end]).lowercasedASCII())
        else { return nil }
        let title = try SourceURL(sources: images.sources).resolve(address).title
        return PosterPath.text(of: title, size: "w342")
    }

    /// The target of `address`, or the other meaning of its path if the cache has only that one.
    private func target(_ address: ImageAddress, accept: String?) async -> ParsedTarget {
        let target = images.target(address, accept: accept)
        guard let other = images.other(address), await !isCached(target) else { return target }
        let second = images.target(other, accept: accept)
        return await isCached(second) ? second : target
    }

    /// Whether a tier has the image of `target` or its original.
    private func isCached(_ target: ParsedTarget) async -> Bool {
        let cache = images.pipeline.cache
        if await cache.contains(target.request.key) { return true }
        return await cache.contains(ImageRequest.originalKey(target.request.image))
    }

    /// The path and the query of an address. The query includes the question mark. A fragment is dropped: browsers do not send it.
    private static func parts(of address: String) -> (path: String, query: Substring) {
        var rest = (address.cut(at: "#")?.before ?? address[...])
        if rest.starts(withBytesOf: "http://") || rest.starts(withBytesOf: "https://"),
            let authority = rest.firstRange(ofBytesOf: "://")?.upperBound
        {
            rest = rest[authority...].cut(at: "/").map { rest[$0.before.endIndex...] } ?? "/"
        }
        guard let (path, query) = rest.cut(at: "?") else { return (String(rest), "") }
        return (String(path), rest[path.endIndex..<query.endIndex])
    }
}

internal import FoundationEssentials
internal import NIOCore
public import OnesheetCore
internal import OnesheetTransport

/// A private bucket of Amazon S3, or of a store with the same interface, as a source. An id is a part of the names of objects: with the pattern
/// `poster/{id}.jpg`, the title `550` has the poster `poster/550.jpg`.
///
/// Images are fetched as from any origin, with a signature for each request: their `ETag` says whether they have changed.
public struct S3Source: SourcePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The bucket and the keys for it.
        var access: S3Store.Configuration
        /// The names of the objects with the images of a kind.
        var objects: [ImageKind: KeyPattern]
        var http: HTTPSettings

        private enum CodingKeys: CodingKey { case objects, deadline }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            guard !keys.contains(.deadline) else {
                throw DecodingError.dataCorruptedError(forKey: .deadline, in: keys, debugDescription: "is “timeout” for a source")
            }
            http = try HTTPSettings(from: decoder)
            objects = [:]
            if !keys.contains(.objects) {
                objects[.poster] = KeyPattern.usual
            } else if case .scalar = try keys.decode(ConfigurationValue.self, forKey: .objects) {
                objects[.poster] = try keys.decode(KeyPattern.self, forKey: .objects)
            } else {
                let kinds = try keys.nestedContainer(keyedBy: ImageKind.self, forKey: .objects)
                for kind in ImageKind.allCases { objects[kind] = try kinds.decodeIfPresent(KeyPattern.self, forKey: kind) }
            }
            access = try S3Store.Configuration(from: decoder)
        }
    }

    public static let type = "s3"

    public static let sampleConfiguration = """
        type: s3
        # The bucket, and the keys of a user who may read and list it.
        bucket: posters
        region: eu-central-1
        accessKey: "${S3_ACCESS_KEY}"
        secretKey: "${S3_SECRET_KEY}"
        # The store, if it is not Amazon S3: SeaweedFS, Ceph, MinIO, Cloudflare R2 and others.
        # endpoint: http://10.0.0.5:8333
        # Whether paths name the bucket and not the host. By default true with an endpoint.
        # pathStyle: true
        # The names of objects, for one kind of image or several: poster, season, backdrop, logo, still, profile, banner.
        objects: { poster: "poster/{id}.jpg", logo: "logo/{id}.png" }
        # The time limit for one request, from the first byte sent to the last byte received.
        timeout: 10s
        # The freshness of images, if the bucket does not state it.
        freshness: { minimum: 5m, staleIfError: 1d }
        """

    public let originPolicy: OriginPolicy
    private let answerPolicy: OriginPolicy
    private let address: S3Address
    private let objects: [(kind: ImageKind, pattern: KeyPattern)]
    private let refusal: S3Refusal
    private let pages: ListedPages
    private let context: PluginContext

    /// - Throws: `ConfigurationError` if a value is invalid. The bucket is not asked.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        let (access, http) = (configuration.access, configuration.http)
        guard http.baseURL == nil else { throw ConfigurationError(path: "baseURL", message: "is “endpoint” for a bucket") }
        let (address, signer) = try access.resolved()
        objects = ImageKind.allCases.compactMap { kind in configuration.objects[kind].map { (kind, $0) } }
        guard !objects.isEmpty, let bucket = URLPrefix(address.origin + address.path) else {
            throw ConfigurationError(path: "objects", message: "needs a pattern such as poster/{id}.jpg")
        }
        let signing = OriginSigner { [clock = context.clock] url in signer.headers(for: url, of: address, at: clock.now) }
        func signed(_ policy: OriginPolicy) -> OriginPolicy {
            var policy = policy
            (policy.allow, policy.signer) = ([bucket], signing)
            // The operator has named this one host, which may be anywhere.
            if http.networks == nil, access.endpoint != nil { policy.networks = [.public, .private, .loopback] }
            return policy
        }
        originPolicy = signed(http.policy())
        answerPolicy = signed(http.answerPolicy())
        self.address = address
        self.context = context
        refusal = S3Refusal(bucket: access.bucket, region: access.region, isRead: true)
        pages = ListedPages()
    }

    public var capabilities: SourceCapabilities { SourceCapabilities(searches: false) }

    /// The objects of the first kind that is configured, a thousand at a time, in the order of their names.
    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        guard query.phrase == nil else { throw .unsupported("a search") }
        guard query.date == nil else { throw .unsupported("lists by day") }
        guard query.page <= ListedPages.last, let pattern = objects.first?.pattern else { return TitlePage(titles: []) }
        // Pages follow each other by names, so the first one whose beginning is not known is reached over those before. What was read on
        // the way is remembered.
        var (page, after) = pages.nearest(to: query.page)
        for _ in 0..<Self.pagesOfACall {
            let (ids, last) = try await ids(pattern, after: after)
            let next = last == nil || page == ListedPages.last ? nil : page + 1
            if let next { pages.note(next, after: last) }
            guard page < query.page else { return TitlePage(titles: ids.map(Self.title), next: next) }
            guard let next else { return TitlePage(titles: []) }
            (page, after) = (next, last)
        }
        throw .unavailable(reason: "the list is read up to page \(page) so far; ask again")
    }

    /// The most pages that one call reads.
    private static let pagesOfACall = 20

    /// The next ids of the list, and the name behind which more follow, if more do.
    private func ids(_ pattern: KeyPattern, after: String?) async throws(SourceError) -> (ids: [String], last: String?) {
        var after = after
        // Other objects may have the same beginning.
        for _ in 0..<Self.emptyLists {
            let listing = try await list(pattern.prefix, after: after, limit: 1000)
            let ids = listing.items.compactMap { pattern.id(of: $0.name) }
            let last = listing.isTruncated ? listing.items.last?.name : nil
            guard ids.isEmpty, last != nil else { return (ids, last) }
            after = last
        }
        throw .failed(
            reason: "its objects have other names than expected",
            details: "\(Self.emptyLists) thousand in a row do not fit “\(pattern.text)”")
    }

    /// The most lists without a title, one after the other.
    private static let emptyLists = 50

    private static func title(_ id: String) -> Title { Title(id: id, name: id.cut(atLast: "/").map { String($0.after) } ?? id) }

    /// The title, if it has an image of any kind.
    public func title(_ id: String) async throws(SourceError) -> Title {
        for (_, pattern) in objects {
            if try await object(pattern, id) != nil { return Self.title(id) }
        }
        throw .notFound(id: id)
    }

    /// Posters only, because an address such as `s3://posters/poster/550.jpg` says no other kind.
    public func canonicalID(ofObject name: String, in bucket: String) -> String? {
        bucket.isExactly(refusal.bucket) ? objects.first { $0.kind == .poster }?.pattern.id(of: name) : nil
    }

    /// The objects that are there.
    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        var candidates: [PosterCandidate] = []
        for (kind, pattern) in objects {
            guard let name = try await object(pattern, id) else { continue }
            var candidate = PosterCandidate(.http(url: address.origin + address.path(of: name)))
            candidate.kind = kind
            candidates.append(candidate)
        }
        if candidates.isEmpty { throw .notFound(id: id) }
        return candidates
    }

    /// The name of the object of a title; `nil` if there is none.
    private func object(_ pattern: KeyPattern, _ id: String) async throws(SourceError) -> String? {
        guard let name = pattern.name(of: id) else { return nil }
        return try await list(name, after: nil, limit: 1).items.first?.name.isExactly(name) ?? false ? name : nil
    }

    private func list(_ prefix: String, after: String?, limit: Int) async throws(SourceError) -> S3Listing {
        var request = RequestSigner.Request(method: "GET", host: address.host, path: address.path)
        request.query = [("list-type", "2"), ("encoding-type", "url"), ("max-keys", String(limit)), ("prefix", prefix)]
        if let after { request.query.append(("start-after", after)) }
        let url = "\(address.origin)\(request.path)?\(request.encodedQuery)"
        let answer = try await context.get(HTTPRequest(url: url), under: answerPolicy)
        let bytes = Array(answer.body.readableBytesView)
        guard answer.isSuccess else {
            let error = refusal.error(
                S3Fault(parsing: bytes), status: answer.status, bucketRegion: answer.headers["x-amz-bucket-region"],
                operation: "list \(prefix.escaped)")
            if case .refused(_, let reason) = error { throw .unauthorized(message: reason) }
            throw .failed(reason: "its store does not list its objects", details: error.description)
        }
        let listing: S3Listing
        do throws(S3AnswerError) { listing = try S3Listing(parsing: bytes) } catch {
            throw .malformedAnswer(reason: "it is not a list of objects", details: error.description)
        }
        // A store that ignores what it was asked would be listed without end.
        guard !listing.items.contains(where: { !$0.name.starts(withBytesOf: prefix) || after?.isExactly($0.name) ?? false }),
            !listing.items.isEmpty || !listing.isTruncated
        else { throw .malformedAnswer(reason: "the list has objects that were not asked for, or says falsely that more follow") }
        return listing
    }
}

import OnesheetHTTP
import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// One event loop's cache of parsed targets and prepared response heads, for requests that a tier can answer at once.
///
/// The cache holds no entries. A request looks the entry up in the tiers. It seldom sends an open file instead: see `OpenFileCache`.
/// A purge by this process takes effect immediately, because a file of a removed entry is not sent (`ReadyFile.isUsable()`). Only used on
/// its loop.
final class ResponseHeadCache {
    /// The result of the fast path for one request.
    enum Outcome {
        case answer(ReadyResponse)
        /// The request needs more time. It continues to the router with the parsed target and the lookup so far. Indirect, because its
        /// size would make every outcome large.
        indirect case route(RoutedRequest)
    }

    /// The maximum number of targets, and of `Accept` headers. A full cache is emptied.
    private static let limit = 4096
    /// The maximum number of targets with a query. One image may have any number of them, because most grammars ignore unknown parameters;
    /// each takes up to 17 KiB.
    private static let queryLimit = 256
    /// Bytes of the longest `Accept` field whose format is remembered. Browsers send less than half of it.
    private static let longestAccept = 256
    /// The longest body, in bytes, that is sent at once on an encrypted connection. Encrypting copies the body, and a slow client
    /// holds the copy.
    private static let encryptedLimit = ResponseMemory.small

    private let router: Router
    private let images: ImageContext
    private let files: OpenFileCache?
    private let documents: DocumentHeadCache
    private var targets: [ByteBuffer: CachedTarget] = [:]
    private var queries: [ByteBuffer: CachedTarget] = [:]
    private var formats: [ByteBuffer: ImageFormat?] = [:]

    /// - Parameter files: `nil` on connections that cannot send files.
    init(_ router: Router, files: OpenFileCache?) {
        self.router = router
        self.files = files
        images = router.table.images
        documents = DocumentHeadCache(router, mostBytes: files == nil ? Self.encryptedLimit : .max)
    }

    /// Answers `request` if the response needs no more than a lookup in memory or in the page cache.
    /// - Parameter begun: when it was received.
    func answer(_ request: SimpleRequest, since begun: NIODeadline) -> Outcome {
        let now = images.clock.now
        if let known = targets[request.target] ?? queries[request.target] {
            do {
                try known.address.checkExpiry(at: now.timeIntervalSince1970)
                try known.address.count()
            } catch {
                return .route(known.routed.with(.refused(error)))
            }
            return answer(request, at: known, now, since: begun)
        }
        if let response = documents.answer(request, at: now, since: begun) { return .answer(response) }
        let routed = router.table.route(String(buffer: request.target))
        guard let image = routed.entry.image else {
            guard routed.query.isEmpty, let text = routed.entry.route?.immediateText else { return .route(routed) }
            routed.entry.counter.addImmediate(.successful, bytes: request.isHead ? 0 : text.utf8.count, since: begun)
            let head = ResponseHead(.state(text), router.commonFields, at: now)
            return .answer(request.isHead ? .head(head) : .parts(head, .bytes(ByteBuffer(string: text))))
        }
        do {
            guard let address = try image.read(routed.rest, query: routed.query, at: now) else {
                return .route(routed.with(.document))
            }
            // Cached images of removed sources are not served.
            guard address.source != nil else { throw images.pipeline.unknownSource(of: address.title) }
            return answer(request, at: CachedTarget(routed, address), now, since: begun)
        } catch {
            return .route(routed.with(.refused(error)))
        }
    }

    private func answer(
        _ request: SimpleRequest, at target: CachedTarget, _ now: Date, since begun: NIODeadline
    ) -> Outcome {
        let variant = target.variant(in: target.address.negotiates ? chosenFormat(request.accept) : nil, images)
        // A conditional request needs the entry itself.
        if !request.isConditional, let prepared = variant.prepared, let file = prepared.file, prepared.isGood(at: now),
            file.isUsable()
        {
            return .answer(send(prepared, body: .file(file), to: request, target: target, since: begun))
        }
        let lookUp = images.pipeline.cache.lookUp(variant.parsed.request.key)
        guard
            let response = response(
                to: request, hit: lookUp.hit, variant: variant, target: target, now: now, since: begun)
        else {
            return .route(target.routed.with(.parsed(variant.parsed, lookUp)))
        }
        return .answer(response)
    }

    /// The response for a tier's `hit`. `nil` if the response needs more time or the request is invalid.
    private func response(
        to request: SimpleRequest, hit: CacheHit?, variant: CachedVariant, target: CachedTarget, now: Date, since begun: NIODeadline
    ) -> ReadyResponse? {
        guard let hit else { return nil }
        do { try target.address.checkSides(of: hit.entry) } catch { return nil }
        if variant.prepared?.isGood(for: hit, at: now) != true {
            variant.prepared?.closeFiles()
            variant.prepared = PreparedResponse(
                hit, at: now, router.commonFields, facts: variant.parsed.facts,
                counter: images.pipeline.metrics.images.counter(of: hit.tier))
        }
        guard let prepared = variant.prepared else { return nil }
        if target.isNew { remember(target) }
        // A 304 needs no body, so its length and place do not matter.
        if prepared.isKnown(to: request) {
            target.routed.entry.counter.addImmediate(.redirection, bytes: 0, since: begun)
            prepared.counter.add()
            return .head(prepared.notModified(at: now, router.commonFields))
        }
        guard let body = body(of: hit) else { return nil }
        if case .file(let file) = body, let files { prepared.keep(file, in: files) }
        return send(prepared, body: body, to: request, target: target, since: begun)
    }

    /// The body of `hit` if it can be sent without waiting.
    private func body(of hit: CacheHit) -> ReadyBody? {
        guard files == nil else { return hit.file.map { .file($0) } ?? .bytes(hit.entry.body) }
        guard hit.size <= Self.encryptedLimit else { return nil }
        guard let file = hit.file else { return .bytes(hit.entry.body) }
        return file.read().map { .bytes($0) }
    }

    private func send(
        _ prepared: PreparedResponse, body: ReadyBody, to request: SimpleRequest, target: CachedTarget, since begun: NIODeadline
    ) -> ReadyResponse {
        target.routed.entry.counter.addImmediate(.successful, bytes: request.isHead ? 0 : body.length, since: begun)
        prepared.counter.add()
        if request.isHead { return .head(prepared.head) }
        if let files, let whole = prepared.whole(with: body, in: files) { return .whole(whole, prepared.head) }
        return .parts(prepared.head, body)
    }

    private func remember(_ target: CachedTarget) {
        target.isNew = false
        let text = ByteBuffer(string: target.routed.target)
        if target.routed.query.isEmpty {
            if targets.count >= Self.limit { targets.removeAll() }
            targets[text] = target
        } else if target.routed.entry.image?.readsQuery == true {
            if queries.count >= Self.queryLimit { queries.removeAll() }
            queries[text] = target
        }
    }

    private func chosenFormat(_ accept: ByteBuffer?) -> ImageFormat? {
        guard let accept else { return images.accept.choose(nil) }
        if let format = formats[accept] { return format }
        let format = images.accept.choose(String(buffer: accept))
        guard accept.readableBytes <= Self.longestAccept else { return format }
        if formats.count >= Self.limit { formats.removeAll() }
        formats.updateValue(format, forKey: ByteBuffer(bytes: accept.readableBytesView))
        return format
    }
}

/// A parsed target, with a prepared response for each negotiated format.
private final class CachedTarget {
    let routed: RoutedRequest
    let address: ImageAddress
    var isNew = true
    /// The variant in the original's format.
    private var original: CachedVariant?
    private var negotiated: [ImageFormat: CachedVariant] = [:]

    init(_ routed: RoutedRequest, _ address: ImageAddress) {
        self.routed = routed
        self.address = address
    }

    /// - Parameter format: the negotiated format. `nil` is the original's.
    func variant(in format: ImageFormat?, _ images: ImageContext) -> CachedVariant {
        let known = if let format { negotiated[format] } else { original }
        if let known { return known }
        let variant = CachedVariant(images.target(address, in: format))
        if let format { negotiated[format] = variant } else { original = variant }
        return variant
    }
}

/// A variant and its prepared response heads.
private final class CachedVariant {
    let parsed: ParsedTarget
    var prepared: PreparedResponse?

    init(_ parsed: ParsedTarget) { self.parsed = parsed }
}

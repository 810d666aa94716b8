import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// The dependencies that all image routes share.
struct ImageContext: Sendable {
    let pipeline: Pipeline
    /// Sources by name, in configuration order.
    let sources: [(name: String, source: any ContentSource)]
    let options: ImageOptions
    let signature: Signature
    /// `nil` without a key for encrypted source URLs.
    let encryption: SourceEncryption?
    let accept: Accept
    /// The images for what does not exist.
    let fallbacks: FallbackImages
    let clock: WallClock

    /// The parsed target of `address`, for a client with this `Accept` field.
    func target(_ address: ImageAddress, accept field: String?) -> ParsedTarget {
        target(address, in: address.negotiates ? accept.choose(field) : nil)
    }

    /// The parsed target of `address`.
    /// - Parameter format: the negotiated format. `nil` is the original's.
    func target(_ address: ImageAddress, in format: ImageFormat?) -> ParsedTarget {
        let request = address.request(in: format)
        // The canonical address and the usual file name have the source URL.
        let canonical =
            address.hidesSource
            ? nil
            : CanonicalPath(options: options, signature: signature.forAnyone).path(
                to: request.title, request.image.selector, as: request.transform, expires: address.expires,
                negotiates: address.negotiates)
        var disposition = address.disposition
        if address.hidesSource, disposition?.name == nil { disposition?.name = "image" }
        let facts = AddressFacts(
            varies: address.negotiates, isShared: address.isShared,
            isVersioned: address.source?.isVersioned ?? false,
            canonical: canonical, ignored: address.ignored, disposition: disposition.map { ($0, address.title) },
            expires: address.expires)
        return ParsedTarget(address: address, request: request, facts: facts)
    }

    /// Answers a request with the image of `target`, unless the fast path has done so.
    /// - Parameter lookUp: the cache lookup that the fast path has begun, if any.
    func answer(_ context: RequestContext, with target: ParsedTarget, after lookUp: CacheLookUp? = nil) async throws -> Response {
        if let response = try await partialResponse(context, target) { return response }
        let found: (target: ParsedTarget, answer: ImageAnswer)
        do {
            found = try await self.image(of: target, after: lookUp, accept: context.headers[.accept])
        } catch {
            if Task.isCancelled { throw error }
            countFailure()
            if let place = Self.fallback(of: target, after: error) {
                return Response(status: .found, headers: [.location: place, .cacheControl: "no-store"])
            }
            if let response = try await fallbackImage(context, of: target, after: error) { return response }
            throw target.address.hidesSource ? (error as? Failure)?.hidingSource ?? error : error
        }
        let answer = found.answer
        pipeline.metrics.images.counter(of: answer.origin.outcome).add()
        let image = ImageResponse(answer: answer, address: found.target.facts)
        let response = image.response(to: context.method, context.headers, at: clock.now)
        if context.method == .get, response.status.kind == .successful {
            try context.client.hold(answer.entry.body, isInTier: answer.isFromMemory)
        }
        return response
    }

    /// The response to a request that needs a part of a large image or only its head. It reads no more than it sends.
    /// - Returns: `nil` if the request needs the whole image, or no tier that can read parts has it as it may be served.
    private func partialResponse(_ context: RequestContext, _ target: ParsedTarget) async throws -> Response? {
        let partial: [HTTPField.Name] = [.range, .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince]
        guard context.method == .head || partial.contains(where: { context.headers[$0] != nil }), target.address.source != nil,
            let head = await pipeline.largeHead(
                of: target.request, from: target.address.forbidden == nil ? target.address.source : nil)
        else { return nil }
        try target.address.checkSides(of: head.answer.entry)
        let image = ImageResponse(answer: head.answer, address: target.facts)
        var parts: [ByteBuffer]?
        switch image.extent(to: context.method, context.headers) {
        case .whole: return nil
        case .nothing: break
        case .parts(let ranges):
            guard let read = try await pipeline.parts(ranges, of: head) else { return nil }
            var all = ByteBuffer()
            for part in read.bytes { all.writeImmutableBuffer(part) }
            try context.client.hold(all, isInTier: false)
            parts = read.bytes
        }
        pipeline.metrics.images.counter(of: head.answer.origin.outcome).add()
        return image.response(to: context.method, context.headers, parts: parts, at: clock.now)
    }

    /// The response with the fallback image, if there is no image of `target` and its client gets one. It is stored under a title of its own,
    /// so the next request asks for the image again.
    private func fallbackImage(
        _ context: RequestContext, of target: ParsedTarget, after error: any Error
    ) async throws -> Response? {
        let address = target.address
        guard let failure = error as? Failure, failure.status == .notFound, !failure.isOurs, address.forbidden == nil,
            fallbacks.isGiven(whenWanted: address.wantsFallback)
        else { return nil }
        let kind = address.image.selector.kind
        let found = fallbacks.title(of: kind)
        var facts = AddressFacts(varies: target.facts.varies, isShared: address.isShared)
        facts.longestLifetime = target.facts.longestLifetime(at: clock.now)
        let request = ImageRequest(ImageReference(found.title), target.request.transform)
        let answer: ImageAnswer
        do throws(Failure) { answer = try await pipeline.image(for: request, from: found.source) } catch {
            // No image of this transform, such as a region outside it.
            if error.isOurs { throw error }
            return nil
        }
        if context.method == .get { try context.client.hold(answer.entry.body, isInTier: answer.isFromMemory) }
        let image = ImageResponse(answer: answer, address: facts)
        return fallbacks.response(image.response(to: context.method, [:], at: clock.now), of: kind, atMost: facts.longestLifetime)
    }

    /// Counts an image that was asked for and not answered.
    func countFailure() { pipeline.metrics.images.counter(of: "failed").add() }

    /// The URL to which the client is redirected because the image of `target` has failed with `error`. `nil` if it gets the error, because its next
    /// request may get the image.
    static func fallback(of target: ParsedTarget, after error: any Error) -> String? {
        // A redirect must not lead to a URL that is not allowed.
        guard target.address.forbidden == nil else { return nil }
        return (error as? Failure)?.isOurs ?? false ? nil : target.address.fallback
    }

    /// The image of `target`, or of the other meaning of its path if the source has no such title. If its format is negotiated and cannot
    /// hold the image, it is in the format that the client wants next.
    /// - Parameter unfit: formats that cannot hold it.
    /// - Returns: the image, and the target that it is of.
    /// - Throws: the error of `target` if neither meaning has an image.
    func image(
        of target: ParsedTarget, after lookUp: CacheLookUp? = nil, accept field: String?, without unfit: Set<ImageFormat> = []
    ) async throws -> (target: ParsedTarget, answer: ImageAnswer) {
        if let forbidden = target.address.forbidden {
            return try await storedImage(of: target, forbidden, after: lookUp, accept: field)
        }
        do {
            let own = try await own(target)
            let answer = try await pipeline.image(for: own.request, from: own.address.source, after: lookUp)
            try own.address.checkSides(of: answer.entry)
            return (own, answer)
        } catch let error as Failure where error.traits.contains(.isMissing) {
            if case .refused(let reason) = target.address.ifMissing { throw reason }
            guard let other = other(target.address), let source = other.source,
                pipeline.mayHave(other.title, from: source)
            else { throw error }
            do {
                return try await image(of: self.target(other, accept: field), accept: field)
            } catch let second as Failure where second.traits.contains(.isMissing) {
                throw error
            }
        } catch let error as Failure {
            guard target.address.negotiates, error.traits.contains(.mayFitOtherFormat),
                let format = target.request.transform.format
            else { throw error }
            let unfit = unfit.union([format])
            let next = self.target(target.address, in: accept.choose(field, without: unfit))
            return try await image(of: next, accept: field, without: unfit)
        }
    }

    /// `target`, or the same image by the own id of its source, if its id is that of another database.
    private func own(_ target: ParsedTarget) async throws(Failure) -> ParsedTarget {
        guard let source = target.address.source, source.isForeign(target.request.title.id) else { return target }
        return self.target(target, of: try await pipeline.own(target.request.title, from: source))
    }

    /// The same image of another title of the source.
    func target(_ target: ParsedTarget, of title: TitleReference) -> ParsedTarget {
        guard title != target.request.title else { return target }
        let address = target.address.of(FoundTitle(canonical: title, source: target.address.source))
        return self.target(address, in: target.request.transform.format)
    }

    /// The stored image of `target`, whose URL no source allows. Nothing is fetched, made or revalidated for it.
    /// - Throws: the reason of the refusal if nothing is stored.
    private func storedImage(
        of target: ParsedTarget, _ forbidden: FoundTitle.Forbidden, after lookUp: CacheLookUp?, accept field: String?
    ) async throws -> (target: ParsedTarget, answer: ImageAnswer) {
        let others = forbidden.others.map { self.target(target.address.of($0), accept: field) }
        for (number, target) in ([target] + others).enumerated() {
            let stored = try await pipeline.storedImage(for: target.request, after: number == 0 ? lookUp : nil)
            guard let answer = stored else { continue }
            try target.address.checkSides(of: answer.entry)
            return (target, answer)
        }
        throw forbidden.reason
    }

    /// The other meaning of the path of `address`: the title whose id has the extension, or has it not. The id gets its canonical spelling here
    /// and not when the path is parsed, because hardly any request needs it.
    /// - Returns: `nil` if the path has no such meaning.
    func other(_ address: ImageAddress) -> ImageAddress? {
        guard case .other(let id, let format) = address.ifMissing else { return nil }
        let title = TitleReference(source: address.title.source, id: address.source?.canonicalID(id) ?? id)
        var transform = address.transform
        transform.format = format
        return ImageAddress(
            FoundTitle(canonical: title, source: address.source), address.image.selector, transform: transform,
            negotiates: format == nil && transform != options.plain)
    }
}

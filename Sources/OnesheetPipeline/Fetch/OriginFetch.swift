import FoundationEssentials
import OnesheetHTTP
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging

/// Fetches originals and validates them: each must be a picture within the limits, regardless of its media type.
struct OriginFetch: Sendable {
    let transport: any HTTPTransport
    let engine: any PictureEngine
    let pool: RenderPool
    let outlines: PictureOutlines
    let local: LocalOriginals
    /// Those that need no fetch.
    let known: FetchedOriginals
    let clock: WallClock
    /// The longest lifetime of an original.
    let lifetime: CacheExpiration

    /// The original at the location of `candidate`.
    func fetch(
        _ candidate: PosterCandidate, for image: ImageReference, policy: OriginPolicy
    ) async throws(Failure) -> Original {
        let start = clock.now
        switch candidate.location {
        case .http(let url):
            if candidate.source == nil, let original = try await known.original(at: url, for: image, policy: policy) {
                return original
            }
            let (answer, body) = try await ask(HTTPRequest(url: url), policy)
            try check(answer, of: url, policy)
            let freshness = freshness(of: answer, requested: start, policy)
            return try await admit(body, from: url, of: image, freshness, mayBeDrawing: candidate.trust == nil)
        case .local(let name, let bytes):
            let body = try await local.bytes(of: image.title.source, bytes)
            return try await admit(body, from: name, of: image, nil, mayBeDrawing: candidate.trust == nil)
        }
    }

    /// Revalidates `original` with its origin.
    /// - Returns: the same original with new freshness (304), or the origin's new one.
    func revalidate(
        _ original: Original, from url: String, for image: ImageReference, policy: OriginPolicy
    ) async throws(Failure) -> Original {
        let start = clock.now
        var (answer, body) = try await ask(HTTPRequest(url: url, headers: original.freshness?.conditions ?? [:]), policy)
        if answer.isNotModified, let freshness = original.freshness {
            if freshness.isConfirmed(by: answer.headers["etag"]) {
                let (received, rules) = (clock.now, FreshnessRules(policy.freshness))
                let renewed = freshness.revalidated(answer.headers, requested: start, received: received, rules: rules)
                    .within(answer.redirects, requested: start, received: received, rules: rules)
                return original.with(renewed, keptAt: clock.now, for: lifetime)
            }
            (answer, body) = try await ask(HTTPRequest(url: url), policy)
        }
        try check(answer, of: url, policy)
        return try await admit(body, from: url, of: image, freshness(of: answer, requested: start, policy))
    }

    private func freshness(of answer: HTTPAnswer, requested: Date, _ policy: OriginPolicy) -> Freshness {
        let (received, rules) = (clock.now, FreshnessRules(policy.freshness))
        return Freshness(answer.headers, requested: requested, received: received, rules: rules)
            .within(answer.redirects, requested: requested, received: received, rules: rules)
    }

    /// - Throws: the error for a response without a picture.
    private func check(_ answer: HTTPAnswer, of url: String, _ policy: OriginPolicy) throws(Failure) {
        if [429, 503].contains(answer.status), let seconds = answer.retryAfter(at: clock.now) {
            // Pass on the origin's `Retry-After`.
            throw .origin(.unavailable(url: url, retryAfter: Int(min(max(seconds.rounded(.up), 1), 600))))
        }
        guard answer.isSuccess else {
            throw .originRefused(url: url, answer: answer.status, keepsRemoved: policy.freshness.keepsRemoved ?? false)
        }
        // The origin's fault, and most likely transient.
        guard answer.body.readableBytes > 0 else { throw .origin(.failed(url: url, reason: "the answer is empty")) }
    }

    /// Parses the header and computes the hash for the validator in one job on a worker thread.
    /// - Parameter mayBeDrawing: whether a logo may be SVG. Hits of a search are compared by their pixels.
    private func admit(
        _ body: CountedBytes, from place: String, of image: ImageReference, _ freshness: Freshness?, mayBeDrawing: Bool = true
    ) async throws(Failure) -> Original {
        let (outlines, clock, lifetime) = (outlines, clock, lifetime)
        let entry = try await pool.examine { () throws(Failure) -> CacheEntry in
            if mayBeDrawing, image.selector.kind == .logo, SVGDocument.isSVG(body.buffer) {
                let drawing: SVGDocument
                do throws(RenderError) { drawing = try SVGDocument(sanitizing: body.buffer) } catch { throw .render(error) }
                return CacheEntry(drawing, from: place, of: image, created: clock, lives: lifetime)
            }
            let file = PictureFile(bytes: body.buffer, validator: Validator.of(body.buffer), origin: place)
            return CacheEntry(file, try outlines.look(at: file), of: image, created: clock, lives: lifetime)
        }
        let original = Original(entry: entry, reservation: body.reservation)
        guard let freshness else { return original }
        return original.with(freshness, keptAt: clock.now, for: lifetime)
    }

    /// Pixels of `original` after orientation.
    func size(of original: Original) async throws(Failure) -> (width: Int, height: Int) {
        if let size = original.size { return size }
        let outline = try await outlines.outline(of: PictureFile(original.entry))
        return (outline.width, outline.height)
    }

    /// The perceptual hash of the picture. Decodes the picture as small as its codec can, within the memory budget, unless the hash is known.
    func hash(of original: Original) async throws(Failure) -> PerceptualHash {
        if let known = outlines.hash(of: original.entry.validator) { return known }
        let (engine, file) = (engine, PictureFile(original.entry))
        let hash = try await outlines.run(on: file, predicting: engine.costOfHash(of:)) { cost throws(Failure) in
            do throws(RenderError) { return try engine.hash(of: file, predicted: cost) } catch { throw .render(error) }
        }
        outlines.note(hash, of: file.validator)
        return hash
    }

    private func ask(
        _ request: HTTPRequest, _ policy: OriginPolicy
    ) async throws(Failure) -> (answer: HTTPAnswer, body: CountedBytes) {
        do throws(HTTPTransportError) {
            let answer = try await transport.get(request, under: policy)
            // Counted from here on, including the wait for inspection, as what exists: the transport has reserved it. Without a gap, in which
            // others would take its room.
            answer.memory?.settle(to: answer.body.readableBytes)
            let memory = answer.memory ?? pool.memory.charge(answer.body.readableBytes)
            return (answer, CountedBytes(buffer: answer.body, reservation: memory))
        } catch .overloaded where !Task.isCancelled {
            // Originals that wait for a render hold memory longest. If none waits, fetches hold the memory and may end at any
            // moment: then the answer is one second, the shortest value of `Retry-After`.
            throw .overloaded(retryAfter: pool.retryAfter)
        } catch {
            throw Task.isCancelled ? .cancelled : .origin(error)
        }
    }
}

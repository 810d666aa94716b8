import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging

/// Fetches originals and admits them: whatever one says it is, it has to be a picture within the limits.
struct OriginFetch: Sendable {
    let transport: any HTTPTransport
    let renderer: Renderer
    let pool: RenderPool
    let held: HeldOriginals
    let clock: WallClock
    /// The longest that an original is kept.
    let lifetime: CacheExpiration

    /// The original that `candidate` names.
    func fetch(
        _ candidate: PosterCandidate, for title: TitleReference, policy: OriginPolicy
    ) async throws(PipelineError) -> Original {
        let start = clock.now
        switch candidate.location {
        case .http(let url):
            let answer = try await ask(HTTPRequest(url: url), policy)
            guard answer.isSuccess else { throw .originRefused(url: url, answer: answer.status) }
            let freshness = Freshness(
                answer.headers, requested: start, received: clock.now, rules: FreshnessRules(policy.freshness))
            return try admit(answer.body, from: url, of: title, freshness)
        case .held(let name, let bytes):
            return try admit(try await held.bytes(of: title.source, bytes), from: name, of: title, nil)
        }
    }

    /// Asks the origin whether `original` is still what it has.
    /// - Returns: the same one with a new freshness (304), or what the origin has now.
    func revalidate(
        _ original: Original, from url: String, for title: TitleReference, policy: OriginPolicy
    ) async throws(PipelineError) -> Original {
        let start = clock.now
        let rules = FreshnessRules(policy.freshness)
        let answer = try await ask(HTTPRequest(url: url, headers: original.freshness?.conditions ?? [:]), policy)
        if answer.isNotModified, let freshness = original.freshness {
            let renewed = freshness.revalidated(answer.headers, requested: start, received: clock.now, rules: rules)
            return original.with(renewed, keptAt: clock.now, for: lifetime)
        }
        guard answer.isSuccess else { throw .originRefused(url: url, answer: answer.status) }
        let freshness = Freshness(answer.headers, requested: start, received: clock.now, rules: rules)
        return try admit(answer.body, from: url, of: title, freshness)
    }

    private func admit(
        _ body: ByteBuffer, from place: String, of title: TitleReference, _ freshness: Freshness?
    ) throws(PipelineError) -> Original {
        let header: ImageHeader
        do throws(RenderError) { header = try renderer.header(of: body) } catch { throw .render(error) }
        let entry = CacheEntry(
            body, header.format.mediaType, of: title, created: clock, lives: lifetime, cost: 0,
            notes: [
                Original.place: place, Note.width: "\(header.orientation.swapsSides ? header.height : header.width)",
                Note.height: "\(header.orientation.swapsSides ? header.width : header.height)",
            ])
        let original = Original(entry: entry, freshness: nil, hold: pool.memory.hold(body.readableBytes))
        guard let freshness else { return original }
        return original.with(freshness, keptAt: clock.now, for: lifetime)
    }

    private func ask(_ request: HTTPRequest, _ policy: OriginPolicy) async throws(PipelineError) -> HTTPAnswer {
        do throws(HTTPTransportError) {
            return try await transport.get(request, under: policy)
        } catch .crowded(_, let seconds) where !Task.isCancelled {
            throw .overloaded(retryAfter: seconds)
        } catch .overloaded where !Task.isCancelled {
            // What holds memory longest are originals in line for a render. Where none is in line, memory is with fetches under way,
            // of which the next may end any moment: one second then, the shortest time that the field can say.
            throw .overloaded(retryAfter: pool.retryAfter)
        } catch {
            throw Task.isCancelled ? .cancelled : .origin(error)
        }
    }
}

import NIOCore
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
package import Logging

/// Finds, fetches and admits originals: asks the source where a title's poster may be and takes the first candidate that is a picture.
package struct Originals: Sendable {
    let sources: [String: any ContentSource]
    let transport: any HTTPTransport
    let cache: Cache
    let renderer: Renderer
    let pool: RenderPool
    let clock: WallClock
    let lifetime: CacheExpiration
    let logger: Logger
    private let flights = Coalescing<TitleReference, CacheEntry, PipelineError>(cancelled: .cancelled)

    /// - Parameter lifetime: how long an original is kept.
    package init(
        sources: [String: any ContentSource], transport: any HTTPTransport, cache: Cache, renderer: Renderer, pool: RenderPool,
        clock: WallClock = .system, lifetime: CacheExpiration = .days(7), logger: Logger
    ) {
        self.sources = sources
        self.transport = transport
        self.cache = cache
        self.renderer = renderer
        self.pool = pool
        self.clock = clock
        self.lifetime = lifetime
        self.logger = logger
    }

    /// The source called `name`.
    func source(_ name: String) throws(PipelineError) -> any ContentSource {
        guard let source = sources[name] else { throw .unknownSource(name, known: sources.keys.sorted()) }
        return source
    }

    /// The original of `title`, from a tier or fetched, once for all who ask at the same time.
    func original(of title: TitleReference) async throws(PipelineError) -> CacheEntry {
        let source = try source(title.source)
        if let hit = await cache.entry(for: ImageRequest.originalKey(title)) { return hit.entry }
        return try await flights.share(title) { () async throws(PipelineError) -> CacheEntry in
            let candidates: [PosterCandidate]
            do throws(SourceError) {
                candidates = try await source.candidates(for: title.id)
            } catch {
                throw .source(title.source, error)
            }
            let entry = try await firstGood(of: candidates, for: title, policy: source.originPolicy)
            await cache.store(entry, for: ImageRequest.originalKey(title))
            return entry
        }
    }

    /// Tries the candidates in turn. When none is any good, what was wrong with the best one is told.
    private func firstGood(
        of candidates: [PosterCandidate], for title: TitleReference, policy: OriginPolicy
    ) async throws(PipelineError) -> CacheEntry {
        var firstError: PipelineError?
        for candidate in candidates.prefix(Self.attempts) {
            do throws(PipelineError) {
                return try await fetch(candidate, for: title, policy: policy)
            } catch {
                if error == .cancelled || error == .overloaded { throw error }
                logger.info("candidate refused", metadata: ["title": "\(title)", "candidate": "\(candidate.location.name)", "reason": "\(error)"])
                firstError = firstError ?? error
            }
        }
        throw firstError ?? .noPoster(title)
    }

    /// How many candidates are tried before a title counts as failed.
    private static let attempts = 4

    private func fetch(
        _ candidate: PosterCandidate, for title: TitleReference, policy: OriginPolicy
    ) async throws(PipelineError) -> CacheEntry {
        let start = ContinuousClock.now
        let body =
            switch candidate.location {
            case .http(let url): try await download(url, policy)
            case .held(_, let bytes):
                try await pool.run { () throws(PipelineError) in
                    do throws(SourceError) { return try bytes() } catch { throw .source(title.source, error) }
                }
            }
        let header: ImageHeader
        do throws(RenderError) { header = try renderer.header(of: body) } catch { throw .render(error) }
        return CacheEntry(
            body, header.format.mediaType, of: title, created: clock, lives: lifetime,
            cost: (ContinuousClock.now - start) / .milliseconds(1), notes: ["origin": candidate.location.name])
    }

    private func download(_ url: String, _ policy: OriginPolicy) async throws(PipelineError) -> ByteBuffer {
        let answer: HTTPAnswer
        do throws(HTTPTransportError) {
            answer = try await transport.get(HTTPRequest(url: url), under: policy)
        } catch {
            throw Task.isCancelled ? .cancelled : .origin(error)
        }
        guard answer.status == 200 else { throw .originRefused(url: url, answer: answer.status) }
        return answer.body
    }
}

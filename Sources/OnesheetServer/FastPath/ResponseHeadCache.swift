import OnesheetHTTP
import OnesheetAddress
import FoundationEssentials
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// What one event loop remembers of requests that memory could answer: each target's canonical request, and the heads.
///
/// Only what was remembered is taken for granted here, never that the entry is still there: the memory tier is asked each time, so a
/// purge holds at once. Used on its loop alone.
final class PreparedHits {
    /// How many targets and how many `Accept` headers are remembered; beyond it everything is learnt anew.
    private static let limit = 4096

    private let installation: Installation
    private let dialects: [(dialect: any ImageDialect, answers: EarlyAnswers)]
    private let cache: Cache
    private let accept: Accept
    private let cors: CORS
    private let clock: WallClock
    private var targets: [ByteBuffer: KnownTarget] = [:]
    private var formats: [ByteBuffer: ImageFormat] = [:]
    private let kept: KeptOpen
    private let health: PreparedHealth

    init(_ installation: Installation, dialects: [any ImageDialect], _ figures: ServerFigures, on loop: any EventLoop) {
        self.installation = installation
        self.dialects = dialects.map { ($0, figures.early(on: $0.prefix, of: loop)) }
        cache = installation.pipeline.cache
        accept = installation.accept
        cors = CORS(configuration: installation.configuration.cors)
        clock = installation.clock
        kept = KeptOpen(on: loop, clock: clock)
        health = PreparedHealth(cors, figures.early(on: HealthRoute.path, of: loop))
    }

    /// What to send; `nil` where it takes more than a look into memory or the page cache.
    func answer(_ request: PlainRequest, in bytes: ByteBuffer) -> HitAnswer? {
        guard let text = bytes.slice(at: request.target) else { return nil }
        let now = clock.now
        if text == PreparedHealth.target { return health.answer(isHead: request.isHead, at: now) }
        let known = targets[text]
        guard let target = known ?? understand(text) else { return nil }
        do { try target.address.checkExpiry(at: now.timeIntervalSince1970) } catch { return nil }
        let variant = target.variant(in: target.address.negotiates ? chosenFormat(request, in: bytes) : nil)
        guard let body = body(of: variant, at: target.address, now: now, isConditional: request.isConditional) else { return nil }
        if known == nil { remember(target, as: text) }
        guard let prepared = variant.prepared, let isKnown = prepared.isKnown(to: request, in: bytes) else { return nil }
        if isKnown {
            guard let head = prepared.notModified else { return nil }
            target.answers.addNotModified()
            return .head(head)
        }
        target.answers.addWhole()
        if request.isHead { return .head(prepared.head) }
        if let whole = prepared.whole(with: body, in: kept) { return .whole(whole) }
        return .parts(prepared.head, body)
    }

    /// What a tier has of `variant` at once, with its heads prepared.
    private func body(of variant: KnownVariant, at address: ImageAddress, now: Date, isConditional: Bool) -> HitBody? {
        if let prepared = variant.prepared, let file = prepared.file, prepared.isGood(at: now),
            !isConditional || prepared.notModified != nil, file.isUsable()
        {
            return .file(file)
        }
        guard let hit = cache.entryNow(for: variant.key) else { return nil }
        do { try address.checkSides(of: hit.entry) } catch { return nil }
        if variant.prepared?.isGood(for: hit, at: now) != true {
            variant.prepared?.closeFiles()
            variant.prepared = PreparedHit(hit, at: now, cors, variant.facts)
        }
        if isConditional { variant.prepared?.addNotModified(hit, at: now, cors, variant.facts) }
        guard let file = hit.file else { return .bytes(hit.entry.body) }
        variant.prepared?.keep(file, in: kept)
        return .file(file)
    }

    /// Reads a target that is seen for the first time; `nil` where it is not an image's, or not a right one.
    private func understand(_ text: ByteBuffer) -> KnownTarget? {
        let path = String(buffer: text)
        guard let (dialect, answers) = dialects.first(where: { path.hasPrefix($0.dialect.prefix) }) else { return nil }
        do {
            let address = try dialect.address(path.dropFirst(dialect.prefix.count))
            try installation.pipeline.check(address.request(in: nil).title)
            return KnownTarget(address: address, answers: answers, in: installation)
        } catch {
            // The ordinary way says what is wrong with it.
            return nil
        }
    }

    private func remember(_ target: KnownTarget, as text: ByteBuffer) {
        if targets.count >= Self.limit { targets.removeAll() }
        // A copy: the slice would keep everything alive that came with it.
        targets[ByteBuffer(bytes: text.readableBytesView)] = target
    }

    private func chosenFormat(_ request: PlainRequest, in bytes: ByteBuffer) -> ImageFormat {
        guard let place = request.accept, let text = bytes.slice(at: place) else { return accept.choose(nil) }
        if let format = formats[text] { return format }
        let format = accept.choose(String(buffer: text))
        if formats.count >= Self.limit { formats.removeAll() }
        formats[ByteBuffer(bytes: text.readableBytesView)] = format
        return format
    }
}
